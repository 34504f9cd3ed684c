/*
 * Sums - work for a compiler at run time: a table made anew each round
 *
 *	java Sums ROUNDS	prints a sum
 */
import java.util.HashMap;

public class Sums {
	public static void main(String[] a) {
		int n = Integer.parseInt(a[0]);
		long s = 0;
		for (int r = 0; r < n; r++) {
			HashMap<Integer, Integer> m = new HashMap<>();
			for (int i = 0; i < 1000; i++)
				m.merge((i * 7919 + r) % 509, i, Integer::sum);
			for (int v : m.values())
				s += v;
		}
		System.out.println(s);
	}
}
