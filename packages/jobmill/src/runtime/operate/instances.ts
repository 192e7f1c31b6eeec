/** Operates one process of the cluster: makes it quiet, resumes it, or stops it. */
import { checkId } from '../../job/names.ts'
import type { InstanceRecord, InstanceRequest } from '../../store/types/instance.ts'
import type { StoreAccess } from '../store-access.ts'
import { byOf, type ByOption } from './overrides.ts'

export interface InstanceControl {
  /**
   * Makes a running process quiet: it claims no more jobs, and returns the jobs that it has not started.
   * Running jobs continue, it keeps its lease and duties, and other processes take its share of the workers.
   * Lasts until `resumeInstance` or until the process ends; a new process is not quiet. Fails with
   * INSTANCE_UNKNOWN, and with INSTANCE_ENDED if the process has ended or was asked to stop.
   */
  quietInstance(id: string, how?: ByOption): Promise<InstanceRecord>
  /** A quiet process claims jobs again. Fails like `quietInstance`. */
  resumeInstance(id: string, how?: ByOption): Promise<InstanceRecord>
  /**
   * Stops a process like SIGTERM: its running jobs get the grace period. The process ends if it calls
   * `stopOnSignals`, as `jobmill work` and `jobmill start` do. Otherwise only its mill stops. A stop cannot
   * be undone. Fails like `quietInstance`.
   */
  stopInstance(id: string, how?: ByOption): Promise<InstanceRecord>
}

export function instanceControl({ opened, by: us }: StoreAccess): InstanceControl {
  const request = async (
    id: string,
    requested: InstanceRequest | null,
    how: ByOption | undefined,
  ): Promise<InstanceRecord> => {
    const by = byOf(how, us)
    const instance = checkId(id, 'id')
    const { instances, notifier } = await opened()
    const record = await instances.request(instance, requested, by)
    // Notifies the process, which waits under its id, and the other processes of its queues, which take its
    // share.
    notifier.notify([instance, ...record.queues])
    return record
  }
  return {
    quietInstance: (id, how) => request(id, 'quiet', how),
    resumeInstance: (id, how) => request(id, null, how),
    stopInstance: (id, how) => request(id, 'stop', how),
  }
}
