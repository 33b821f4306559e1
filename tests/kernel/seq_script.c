/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences that stand for a case each; the notation is in seq_text.c. */
#include "seq.h"

static const char *const scripts[] = {
	/* a connection from SYN to TIME_WAIT */
	"> S ws=7 sackok; < SA ws=7 sackok; > A; > PA len=100; < A; < PA len=500; > A; > FA; < A; "
	"< FA; > A; > A",
	/* the server ends first; both at once; half closed with data */
	"> S; < SA; > A; < FA; > A; > PA len=10; < A; > FA; < A",
	"> S; < SA; > A; > FA; < FA ack-1; > A; < A; < A",
	"> S; < SA; > A; > FA; < A; < PA len=10; < PA len=1000; > A; < FA; > A",
	/* SYN and SYN-ACK again and again without the last ACK */
	"> S; > S seq=0; > S seq=0; > S seq=0; > S seq=0",
	"> S; < SA; < SA seq=0 ack=1; < SA seq=0 ack=1; < SA seq=0 ack=1; > A",
	/* simultaneous open */
	"> S; < S; > SA seq=0 ack=1; < SA seq=0 ack=1; > A; < A; > PA len=10; < A",
	"> S; < S; < SA seq=0 ack=1; > SA seq=0 ack=1; > A; < A",
	"> S; < S; > A; < A; > PA len=10",
	/* refused, with and without ACK, and after that again */
	"> S; < RA seq=0; > S seq=0; < SA; > A",
	"> S; < R seq=0; > S seq=0; < RA seq=0 ack=1",
	"> S; < RA seq=0 ack=7; > S seq=0; < SA; > A",
	"> R; > S; < SA; > A",
	/* resets: in the window, next to it, far outside, with data behind */
	"> S; < SA; > A; < R; > PA len=10; > S seq+1000; < SA; > A",
	"> S; < SA; > A; < R seq+1; > A; < A; < R",
	"> S; < SA; > A; < R seq+9000; < R seq+9999; < R seq+10001; < R seq-1; < R seq-2; < R",
	"> S; < SA; > A; < R seq+500000; > A; < R; > PA len=5",
	"> S; < SA; > A; > R seq-1; > R seq+100; < A; > R; > R",
	"> S; < SA; > A; < PA len=100; > R seq+1; > A; < PA len=100",
	"> S; > R; > S seq=0; < SA; > R; > R",
	"> S; < SA; > R; < SA seq=0; > A",
	/* out of the window on either side */
	"> S; < SA; > A; > A seq+500000 len=100; > A seq-500000 len=10; > A seq+9999; > A seq+10000; "
	"> A seq+10001; > A seq+10002; > A",
	"> S; < SA; > A; < A seq+500000 len=100; < A ack+1000; < A ack+1; < A ack-66000; "
	"< A ack-66001; < A ack-66002; < A",
	"> S ws=3; < SA ws=2; > A win=1000; < PA len=1400 seq+7000; < PA len=1400 seq+6600; "
	"< A seq+8000; < A seq+8001; < A seq+8002; < A seq+20000",
	"> S ws=15; < SA ws=14; > A win=65535; < A win=65535; > A seq+1073725439 len=1; > A",
	"> S ws=3; < SA; > A win=1000; < A seq+999 len=1; < A seq+1001; < A seq+2000",
	/* zero window and its probes */
	"> S; < SA; > A; < A win=0; > A len=1; > A len=1; < A win=0; < A win=5000; > PA len=4000; < A",
	"> S; < SA win=0; > A; > A len=1 seq-1; < A win=0; < A win=10000; > PA len=100",
	/* keepalives */
	"> S; < SA; > A; > A seq-1; < A; > A seq-1 len=1; < A; < A seq-1; > A",
	/* retransmissions, one more than may be */
	"> S; < SA; > A; > PA len=100; > PA len=100 seq=1; > PA len=100 seq=1; > PA len=100 seq=1; "
	"> PA len=100 seq=1; < A; > PA len=10; < A",
	/* unacknowledged data */
	"> S; < SA; > A; > PA len=100; > PA len=100; < A ack-150; < A ack-100; < A; > PA len=1",
	/* picked up in the middle, from either side */
	"> A; < A; > PA len=1000; < PA len=1000; > A; > FA; < FA; > A",
	"> PA len=100; > PA len=100; > PA len=100; < A; < A; > A",
	"> A; > A seq+100000; < A ack+100000; < A seq+70000; > A; > R; > A",
	"< A; > A; < PA len=100; > A; > FA; < FA; > A",
	"> A win=0; < A win=0; > A; < A",
	"> FA; < SA; > S; < SA; > A",
	/* the same ports again: after TIME_WAIT, after a reset, from the other side */
	"> S; < SA; > A; > FA; < A; < FA; > A; > S seq+100000; < SA seq+50000 ack=100003; > A seq=100003",
	"> S; < SA; > A; > FA; < FA; > A; > S seq+100000; < A; > R; > S",
	"> S; < SA; > A; < FA; > A; > FA; < A; < S seq+70000; > SA seq+9000 ack=70003; < A seq=70003",
	"> S; < SA; > A; > R; > S seq+100; < SA seq+100 ack=102; > A",
	"> S; < SA; > A; < R; > S seq+100; < SA seq+100; > A",
	"> S; < SA; > A; > S seq+1000; < A; > R seq=1; > S seq+1000; < SA seq+1000; > A",
	"> S; < SA; > A; > S seq+1000; < SA seq+1000 ack=1002; > A seq=1002; > PA len=10",
	"> S; > S seq+1000; < SA ack=1002; > A seq=1002; < A",
	"> S; > S seq-1000; < SA; > A",
	/* SYN in every later state, the answer a challenge */
	"> S; < SA; > A; > FA; > S seq+10; < A; < FA; > S seq+10; < A; > A",
	"> S; < SA; > A; > FA; < FA; > S seq+10; < A; > A",
	/* selective acknowledgements beyond the ACK */
	"> S sackok; < SA sackok; > A; > A len=100 seq+100; < A sack=101-201; < A sack=101-99999; "
	"< A sack=4294901000-4294901100; > PA len=100; < A",
	"> S sackok; < SA; > A; > A len=100 seq+100; < A sack=101-201; < A sack=101-99999; < A",
	/* sequence numbers that wrap */
	"client0=40000,4294967290 server0=80,4294967000; > S; < SA; > A; > PA len=1000; < A; "
	"< PA len=1400; > A; < R seq+2; < R",
	/* headers that lie */
	"> S badsum; > S short; > S long; > S cut; > SFA; > SR; > 0; > U; > FPU; > SU; < SA; > A",
	"> S; < SA badsum; < SA; > A badsum; > A; < PA len=10 badsum; < PA len=10; > A",
	/* UDP: unreplied, a stream once it is old enough, garbage */
	"> udp len=10; > udp len=10; < udp len=10; > udp len=10; < udp; -; -; -; > udp; < udp; > udp",
	"> udp len=10; -; -; -; -; -; -; < udp; > udp; < udp",
	"< udp; > udp; < udp; -; -; -; -; < udp; > udp",
	"> udp short; > udp long; > udp cut; > udp badsum; > udp nosum len=9; < udp badsum; < udp; > udp",
	"> udplite; < udplite; > udplite asudp; < udplite asudp; > udplite asudp; > udplite short; "
	"> udplite long; > udplite badsum; < udplite asudp",
	"> udplite len=10 asudp; > udplite; < udplite nosum; < udplite cut; > udplite len=100; "
	"< udplite len=1 asudp; > udplite len=99 asudp",
	/* echo, other asking types, answers nobody asked for, other ids */
	"> icmp=8/0 len=20; < icmp=0/0; < icmp=0/0; > icmp=8/0; > icmp=8/0 flow=1; < icmp=0/0 flow=1",
	"< icmp=0/0; < icmp=8/0; > icmp=0/0; > icmp=13/0; < icmp=14/0; > icmp=15/0; < icmp=16/0; "
	"> icmp=17/0; < icmp=18/0; > icmp=9/0; > icmp=10/0; > icmp=19/0; > icmp=30/0",
	"> icmp=8/0 badsum; > icmp=8/0 cut; > icmp=8/1; < icmp=0/1; < icmp=0/0; > icmp=0/1",
	"v6; > icmp=128/0 len=20; < icmp=129/0; > icmp=139/0; < icmp=140/0; < icmp=129/0 flow=1; "
	"> icmp=135/0; > icmp=143/0; > icmp=130/0; > icmp=151/0; > icmp=144/0; > icmp=255/0",
	/* errors about both directions, cut, damaged, from elsewhere, about what never was */
	"> udp len=100; < err=3/3 of=0; < err=3/3 of=0 quote=8; < err=3/3 of=0 quote=3; < err=11/0 of=0 "
	"third; < err=3/3 of=0 badsum; < err=3/3 of=0 turned; > err=3/3 of=0; < udp; > err=3/1 of=8; "
	"> err=3/4 of=8 third; < err=5/1 of=0; < err=4/0 of=0; < err=12/0 of=0",
	"> S; < err=3/3 of=0; < SA; > err=3/1 of=2 third; > A; < err=3/4 of=4 quote=8; < err=11/0 of=4 "
	"quote=4; < err=3/0 of=4 cut; < R; > err=3/3 of=8",
	"> icmp=8/0; < err=11/0 of=0 third; < err=3/1 of=0 quote=8; < err=3/1 of=0 quote=7; < icmp=0/0; "
	"> err=3/2 of=4; < err=3/3 of=1",
	"> proto=50 len=20; < err=3/2 of=0; < err=3/2 of=0 quote=4; < err=3/2 of=0 quote=1; < proto=50",
	"v6; > udp len=100; < err=1/4 of=0; < err=2/0 of=0; < err=3/0 of=0 third; < err=4/1 of=0 "
	"quote=8; < err=1/0 of=0 badsum; < err=137/0 of=0; > err=1/4 of=0; < udp; > err=1/4 of=8; "
	"< err=100/0 of=0; < err=127/0 of=0; < err=0/0 of=0",
	"v6; > udp len=100 dstopts; < err=1/4 of=0; < udp hopopts; > err=3/0 of=2; > udp routing; "
	"> udp atomic; > udp twoext; < err=1/0 of=6",
	/* fragments */
	"> udp len=800 pieces=3; > udp len=800 pieces=3 reversed; < udp len=900 pieces=2 lastfirst; "
	"> udp len=800 pieces=4 doubled; > udp len=80 pieces=3 overlap; > udp len=80 pieces=3 lacking; "
	"> udp len=100",
	"v6; > udp len=800 pieces=3; > udp len=800 pieces=3 reversed; < udp len=900 pieces=2 lastfirst; "
	"> udp len=800 pieces=4 doubled; > udp len=80 pieces=3 overlap; > udp len=80 pieces=3 lacking; "
	"> udp len=100",
	"> S; < SA; > A; > PA len=1000 pieces=3 reversed; < A; > icmp=8/0 len=900 pieces=2; "
	"< icmp=0/0 len=900 pieces=2 reversed; < err=3/4 of=3; < err=3/4 of=5",
	/* SCTP: a life, a restart, aborts with either tag, garbage */
	"> sctp=init tagzero; < sctp=initack; > sctp=cookie; < sctp=cookieack; > sctp=data; < sctp=sack; "
	"> sctp=hb; < sctp=hback; > sctp=shutdown; < sctp=shutack; > sctp=shutdone",
	"> sctp=init tagzero; < sctp=initack; > sctp=cookie,data; < sctp=cookieack,data; < sctp=abort; "
	"> sctp=init tagzero; < sctp=abort",
	"> sctp=init tagzero; < sctp=initack; > sctp=cookie; < sctp=cookieack; > sctp=abort/1 tagown; "
	"> sctp=abort tagwrong; > sctp=abort",
	"> sctp=init tagzero; < sctp=initack; > sctp=cookie; < sctp=cookieack; > sctp=init init=1 "
	"tagzero; < sctp=initack init=1 pinit=1; > sctp=cookie init=1 pinit=1; < sctp=cookieack init=1 "
	"pinit=1; > sctp=data pinit=1",
	"> sctp=init tagzero; < sctp=init tagzero; < sctp=initack; > sctp=initack; > sctp=cookie; "
	"< sctp=cookieack; < sctp=cookie; > sctp=cookieack",
	"> sctp=data; > sctp=init; > sctp=init,data tagzero; > sctp=abort; > sctp=cookie; > sctp=shutack; "
	"> sctp=hb; < sctp=hback; > sctp=data!; > sctp=shutdone/1 tagown; > sctp=init tagzero badsum; "
	"> sctp=init tagzero cut; > sctp=init tagzero short; > sctp=init tagzero long",
	"> sctp=hb; < sctp=hb; < sctp=hback; > sctp=data; < sctp=data; > sctp=hb; > sctp=shutdown; "
	"< sctp=shutack; > sctp=shutdone",
	/* GRE and what has no ports */
	"> gre=0; > gre=0/32; < gre=0; > gre=1/32 gproto=34827; < gre=1/32 gproto=34827; > gre=1/32; "
	"> gre=2; < gre=2; > gre=0 cut; > gre=1 cut",
	"> proto=50; < proto=50 len=20; > proto=51 len=20; > proto=4 len=30; > proto=41; < proto=255; "
	"> proto=255; > proto=0 len=8; > proto=33 len=20; < proto=33 len=20",
	/* short ones, as they are and in quotes, and a second connection that looks like the answer */
	"> gre=0 len=20; < err=3/1 of=0 quote=8; < gre=0 len=4; < gre=2 len=30; > gre=3 len=30; > gre=0; "
	"< gre=0/32 flow=1 len=74; > proto=103 len=20 flow=1; < proto=103 len=20",
	"v6; > gre=0 len=20; < gre=0 len=4; < gre=2 len=30; > gre=3 len=30; < gre=0/32 flow=1 len=74; "
	"> proto=103 len=20 flow=1; < proto=103 len=20",
	/* the router itself is asked */
	"router; > icmp=8/0 len=30; > icmp=8/0; > icmp=8/0 len=900 pieces=2; > udp len=10; > udp; "
	"> S; > A; > icmp=13/0; > proto=50 len=10",
	"v6 router; > icmp=128/0 len=30; > icmp=128/0; > udp len=10; > udp; > S; > A; > proto=50 len=10",
	NULL,
};

const char *seq_script_text(unsigned int i)
{
	return scripts[i];
}
