#!/bin/bash
# Virtual hosts on this machine, each a network namespace with a name of its
# own, on one bridge: for scripts that source this.
#
#   . virtual.sh FOLDER N     makes h0 to h(N-1); ends the script with 77 where
#                             that cannot be, with the reason
#   virtual_remove            kills what runs on them, and removes them
#   $virtual_on HOST COMMAND...   runs a command there
#   virtual_mpirun=(...)      mpirun's options for jobs over them
#
# Needs root, ip, nsenter and unshare, and a kernel that lets them.
# shellcheck disable=SC2034  # for those who source this
virtual_folder=$1
virtual_n=$2
virtual_id=$$
virtual_net=10.$((64 + virtual_id % 64)).$((virtual_id / 64 % 250))
virtual_on=$virtual_folder/on

virtual_skip() {
    echo "skipped: $1"
    exit 77
}

virtual_pids() { # HOST
    ip netns pids "tri$virtual_id$1" 2> /dev/null || true
}

virtual_remove() {
    local host
    for host in $(seq -f h%g 0 $((virtual_n - 1))) switch; do
        virtual_pids "$host" | xargs -r kill -9 2> /dev/null || true
        ip netns del "tri$virtual_id$host" 2> /dev/null || true
    done
}

virtual_switch() {
    ip -n "tri${virtual_id}switch" "$@"
}

virtual_make() { # NUMBER
    local name=tri${virtual_id}h$1
    ip netns add "$name"
    virtual_switch link add "v$1" type veth peer name eth0 netns "$name"
    virtual_switch link set "v$1" master br0
    virtual_switch link set "v$1" up
    ip -n "$name" addr add "$virtual_net.$((10 + $1))/24" dev eth0
    ip -n "$name" link set eth0 up
    ip -n "$name" link set lo up
    echo "$virtual_net.$((10 + $1)) h$1" >> "$virtual_folder/hosts"
}

for virtual_tool in ip nsenter unshare; do
    command -v $virtual_tool > /dev/null ||
        virtual_skip "there is no $virtual_tool"
done
[ "$(id -u)" = 0 ] || virtual_skip "namespaces need root"
ip netns add "tri${virtual_id}switch" 2> /dev/null ||
    virtual_skip "no network namespaces"
echo "127.0.0.1 localhost" > "$virtual_folder/hosts"
{
    virtual_switch link add br0 type bridge && virtual_switch link set br0 up
} 2> /dev/null || virtual_skip "no bridges"
for ((virtual_i = 0; virtual_i < virtual_n; virtual_i++)); do
    virtual_make $virtual_i || virtual_skip "no pairs of network devices"
done

# As a remote shell it never fails: otherwise mpirun ends the job with the host.
cat > "$virtual_on" << END
#!/bin/bash
host=\$1
shift
exec nsenter --net=/run/netns/tri$virtual_id\$host unshare --uts --mount \
    --propagation private bash -c 'hostname '"\$host"'
    mount --bind $virtual_folder/hosts /etc/hosts; exec "\$@"' on "\$@"
END
cat > "$virtual_folder/rsh" << END
#!/bin/bash
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
"$virtual_on" "\$host" /bin/sh -c "\$*"
exit 0
END
chmod +x "$virtual_on" "$virtual_folder/rsh"
"$virtual_on" h0 true 2> /dev/null || virtual_skip "no hosts of its own"
virtual_mpirun=(-mca plm_rsh_agent "$virtual_folder/rsh"
    -mca btl "self,vader,tcp" -mca btl_tcp_if_include eth0
    -mca oob_tcp_if_include eth0 --oversubscribe --bind-to none)
