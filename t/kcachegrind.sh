# kcachegrind.sh - for scripts of this folder: files in KCachegrind
#
#	. t/kcachegrind.sh
#	kcachegrind_there		is it, with all that it needs?
#	same "text" opened "$(kcachegrind_loads FILE)"
#				with no display; and what its importer complains of
#	kcachegrind_shows FILE PNG	the same in a window, with a picture of it

kcachegrind_there() {
	for p in kcachegrind dbus-run-session dbus-send; do
		command -v $p >/dev/null || return 1
	done
}

# It opens all files of a folder that begin alike: each is alone in its own.
kcachegrind_home() {
	rm -rf "$T/kc" && mkdir -p "$T/kc/run" "$T/kc/.config" "$T/kc/in"
	chmod 700 "$T/kc/run"
	printf '[TipOfDay]\nRunOnStart=false\n' >"$T/kc/.config/kcachegrindrc"
	cp "$1" "$T/kc/in/callgrind.out.x"
	export HOME="$T/kc" XDG_RUNTIME_DIR="$T/kc/run" \
	    XDG_CONFIG_HOME="$T/kc/.config" LC_ALL=C.UTF-8
	unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
	cd "$T/kc" || exit 99
}

# In a session of its own: until the window's title has the file's name, which
# it has once its data is there; then the picture, where one is asked for, once
# it shows more than an empty window.
# shellcheck disable=SC2016
kcachegrind_session='
kcachegrind in/callgrind.out.x 2>err &
p=$!
i=0
while [ $i -lt 600 ] && kill -0 $p 2>/dev/null; do
	i=$((i + 1))
	case $(dbus-send --print-reply=literal \
	    --dest=org.kde.kcachegrind-$p /kcachegrind/MainWindow_1 \
	    org.freedesktop.DBus.Properties.Get \
	    string:org.qtproject.Qt.QWidget string:windowTitle 2>/dev/null) in
	*callgrind.out.x*)
		echo opened
		break ;;
	esac
	sleep .1
done
i=0
while [ -n "$1" ] && [ $i -lt 60 ]; do
	i=$((i + 1))
	sleep 1
	import -window root "$1"
	[ "$(identify -format %k "$1")" -le 100 ] || break
done
kill $p
wait $p'

kcachegrind_loads() (
	kcachegrind_home "$1"
	unset DISPLAY
	QT_QPA_PLATFORM=offscreen timeout -k 2 200 dbus-run-session -- \
	    sh -c "$kcachegrind_session" 2>/dev/null
	grep '^Loading "' err
)

kcachegrind_shows() (
	kcachegrind_home "$1"
	Xvfb -displayfd 3 -screen 0 1200x800x24 -nolisten tcp -noreset \
	    3>display >xvfb.log 2>&1 &
	x=$!
	i=0
	while [ ! -s display ] && [ $i -lt 600 ]; do
		i=$((i + 1))
		sleep .1
	done
	DISPLAY=:$(cat display) QT_QPA_PLATFORM=xcb timeout -k 2 200 \
	    dbus-run-session -- sh -c "$kcachegrind_session" sh "$2" 2>/dev/null
	kill $x
	wait $x 2>/dev/null
	true
)
