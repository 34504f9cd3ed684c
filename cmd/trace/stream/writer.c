/*
 * writer - the writer of event text, and the stream's head
 */
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

struct evw *stream_writer;
char *const *stream_program;

void
stream_head(void)
{
	static const char *const cpus[] = { "native", "v2", "v3", "v4" };

	evw_line(stream_writer, EVW_HEADER);
	evw_cmd(stream_writer, stream_program);
	if (opt->follow || opt->pid != 0)
		evw_line(stream_writer, "H pid %d", (int)guest.pid);
	evw_line(stream_writer, "H arch x86_64");
	if (opt->kind->alone)
		evw_line(stream_writer, "H kind %s %u %u %u", opt->kind->name,
		    opt->sets, 1u << opt->lineshift, opt->ways);
	else
		evw_line(stream_writer, "H kind %s", opt->kind->name);
	if (opt->contexts != 0)
		evw_line(stream_writer, "H contexts %llu",
		    (unsigned long long)opt->contexts);
	if (opt->each)
		evw_line(stream_writer, "H rep each");
	if (opt->writes)
		evw_line(stream_writer, "H modify write");
	if (opt->allocs)
		evw_line(stream_writer, "H allocs yes");
	if (opt->times)
		evw_line(stream_writer, "H syscalls ns");
	if (opt->interval != 0)
		evw_line(stream_writer, "H interval %llu",
		    (unsigned long long)opt->interval);
	if (opt->every != 0)
		evw_line(stream_writer, "H desc Sampled:          %llu "
		    "instructions of each %llu",
		    (unsigned long long)opt->span,
		    (unsigned long long)opt->every);
	evw_line(stream_writer, "H cpu %s", cpus[opt->cpu]);
	if (opt->kind->refs == REFS_ALL)
		stream_caches(stream_writer);
}
