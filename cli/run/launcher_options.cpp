#include "cli/run/launcher_options.hpp"

#include <sstream>

namespace nplus1::cli {
namespace {

using Table = std::map<std::string, Takes>;

void add(Table& table, Takes takes, const char* names) {
  std::istringstream words{names};
  for (std::string name; words >> name;) table[name] = takes;
}

/// `mpiexec.hydra -help` of MPICH 4, and its older names.
LauncherOptions hydra() {
  LauncherOptions known{"Hydra's mpiexec", false, true, {}};
  add(known.options, Takes::kRanks, "n np");
  add(known.options, Takes::kVariable, "env genv");
  add(known.options, Takes::kRefused, "configfile info version help h");
  add(known.options, Takes::kNothing,
      "genvnone genvall envnone envall enable-x disable-x verbose v vv print-all-exitcodes profile "
      "prepend-rank l disable-auto-cleanup dac disable-hostname-propagation pmi-port skip-launch-node");
  add(known.options, Takes::kOne,
      "genvlist envlist f hostfile machinefile machine hosts host wdir wd path arch launcher launcher-exec "
      "bootstrap bootstrap-exec rmk topolib binding bind-to map-by membind demux iface ppn perhost "
      "prepend-pattern outfile-pattern outfile errfile-pattern errfile nameserver order-nodes localhost "
      "usize "
      "gpus-per-proc s stdin");
  return known;
}

/// `mpirun --help full` of Open MPI 4.
LauncherOptions open_mpi() {
  LauncherOptions known{"Open MPI's mpirun", false, true, {}};
  add(known.options, Takes::kRanks, "n np c");
  add(known.options, Takes::kTwo, "mca gmca");
  add(known.options, Takes::kRefused, "app dvm help h version V");
  add(known.options, Takes::kNothing,
      "allow-run-as-root bind-to-core bind-to-socket bind-to-none bycore bynode byslot continuous d "
      "debug-devel debug-daemons debug-daemons-file disable-recovery display-allocation "
      "display-devel-allocation display-devel-map display-diffable-map display-map display-topo "
      "do-not-resolve enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces "
      "index-argv-by-rank leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix "
      "novm "
      "oversubscribe pernode q quiet report-bindings report-child-jobs-separately report-state-on-timeout s "
      "preload-binary set-cwd-to-session-dir show-progress tag-output timestamp-output use-hwthread-cpus "
      "use-regexp v verbose xml");
  add(known.options, Takes::kOne,
      "am bind-to cf cartofile cpu-list cpu-set cpus-per-proc cpus-per-rank default-hostfile H host hnp "
      "hostfile launch-agent machinefile map-by max-restarts max-vm-size N npernode npersocket ompi-server "
      "output-filename path personality ppr prefix preload-files rank-by report-events report-pid report-uri "
      "rf rankfile stdin timeout tune wd wdir x xml-file xterm add-host add-hostfile");
  return known;
}

/// srun(1) of Slurm 22.05.
LauncherOptions slurm() {
  LauncherOptions known{"srun", true, false, {}};
  add(known.options, Takes::kRanks, "n ntasks");
  add(known.options, Takes::kRefused, "V version usage h help test-only het-group pack-group");
  add(known.options, Takes::kJoined,
      "I K immediate kill-on-bad-exit exclusive propagate nice get-user-env compress bcast resv-ports x11 "
      "send-libs");
  add(known.options, Takes::kNothing,
      "E H l O Q s u v X Z k contiguous disable-status exact hold interactive label multi-prog no-allocate "
      "no-kill overcommit overlap oversubscribe preserve-env pty quiet quit-on-interrupt reboot spread-job "
      "unbuffered use-min-nodes verbose whole");
  add(known.options, Takes::kOne,
      "A B c C d D e G i J L M m N o p q r S t T w W x account accel-bind acctg-freq bb bbf bcast-exclude "
      "begin chdir cluster-constraint clusters comment constraint container context core-spec "
      "cores-per-socket "
      "cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution epilog error "
      "exclude export export-file extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket "
      "gpus-per-task gres gres-flags hint input job-name jobid licenses mail-type mail-user mcs-label mem "
      "mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network nodefile nodelist nodes "
      "ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output "
      "partition power prefer priority profile prolog qos relative reservation signal slurmd-debug "
      "sockets-per-node switches task-epilog task-prolog thread-spec threads threads-per-core time time-min "
      "tmp treewidth uid wait wckey");
  return known;
}

/// prun(1) of PRRTE 3.
LauncherOptions prrte() {
  LauncherOptions known{"prun", false, true, {}};
  add(known.options, Takes::kRanks, "n np c");
  add(known.options, Takes::kTwo, "mca gmca prtemca pmixmca gprtemca gpmixmca");
  add(known.options, Takes::kRefused, "app h help V version");
  add(known.options, Takes::kNothing,
      "allow-run-as-root continuous do-not-connect do-not-launch enable-recovery forward-signals "
      "index-argv-by-rank preload-binary q quiet s set-cwd-to-session-dir show-progress system-server-first "
      "system-server-only v verbose wait-to-connect");
  add(known.options, Takes::kOne,
      "bind-to display dvm-uri H host hostfile machinefile map-by max-restarts namespace N "
      "num-connect-retries "
      "output path pid personality preload-files prefix rank-by report-uri runtime-options stdin timeout wd "
      "wdir x add-host add-hostfile");
  return known;
}

/// flux-run(1) of flux-core.
LauncherOptions flux() {
  LauncherOptions known{"flux run", true, false, {}};
  add(known.options, Takes::kRanks, "n ntasks");
  add(known.options, Takes::kRefused, "help h dry-run");
  add(known.options, Takes::kNothing, "l label-io u unbuffered v verbose x exclusive");
  add(known.options, Takes::kOne,
      "N nodes c cores-per-task g gpus-per-task t time-limit o setopt q queue B bank urgency job-name flags "
      "dependency requires begin-time env env-remove env-file rlimit input output error S setattr add-file "
      "cwd "
      "cores tasks-per-node tasks-per-core gpus-per-node conf taskmap signal");
  return known;
}

}  // namespace

const LauncherOptions& options_of(LauncherKind kind) {
  static const std::map<LauncherKind, LauncherOptions> all{{LauncherKind::kHydra, hydra()},
                                                           {LauncherKind::kOpenMpi, open_mpi()},
                                                           {LauncherKind::kSlurm, slurm()},
                                                           {LauncherKind::kPrrte, prrte()},
                                                           {LauncherKind::kFlux, flux()}};
  return all.at(kind);
}

}  // namespace nplus1::cli
