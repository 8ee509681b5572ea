# `systemctl` of a lab host: hands its arguments to the first process of the host (verbs.py), and ends as that says. Agents
# and Ansible call it hundreds of times a minute, and Perl starts in a tenth of Python's time where it loads no module.
use strict;
use warnings;

sub fail { print STDERR "@_\n"; exit 1 }

my ($AF_UNIX, $SOCK_STREAM) = (1, 1);    # Of Linux; Socket.pm, which knows them, takes longer than all else here.
my $path = ($ENV{MUSTER_ROOT} // "") . "/run/lab-init.sock";

sub quoted {
    my ($text) = @_;
    $text =~ s/([\x00-\x1f"\\])/sprintf "\\u%04x", ord $1/ge;
    return qq("$text");
}

socket(my $first, $AF_UNIX, $SOCK_STREAM, 0) or fail("No socket: $!");
connect($first, pack("S a108", $AF_UNIX, $path)) or fail("Failed to connect to the host's first process: $!");
my $request = sprintf qq({"verb": "systemctl", "args": [%s]}\n), join ", ", map { quoted($_) } @ARGV;
syswrite($first, $request) == length $request or fail("The host's first process took no request: $!");

my $data = "";
while (my $read = sysread $first, $data, 65536, length $data) { }

# The exit code, how many bytes are for stdout, those, and the rest for stderr.
my ($code, $length, $body) = $data =~ /\A(\d+) (\d+)\n(.*)\z/s or fail("The host's first process gave no answer.");
print STDOUT substr $body, 0, $length;
print STDERR substr $body, $length;
exit $code;
