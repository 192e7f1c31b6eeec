/** Signals the stop of a mill to parts that are given only the mill. It is not part of the public API. */
import { JobmillError } from '../job/errors.ts'

/** A property instead of a WeakMap, because objects that wrap a mill inherit or copy it. */
const STOPPED = Symbol.for('jobmill.stopped')

const SERVERS = Symbol.for('jobmill.servers')

/** Each call closes a server that uses the mill. */
export type Servers = Set<() => Promise<unknown>>

interface Stop {
  readonly stopped: AbortSignal
  readonly servers: Servers
}

export function keepStopSignal(mill: object, { stopped, servers }: Stop): void {
  Object.defineProperty(mill, STOPPED, { value: stopped, enumerable: true })
  Object.defineProperty(mill, SERVERS, { value: servers, enumerable: true })
}

/** Fires when the mill accepts no more calls, whether it was started or not. Its reason is MILL_STOPPED. */
export function stopSignalOf(mill: object): AbortSignal | undefined {
  return (mill as { readonly [STOPPED]?: AbortSignal })[STOPPED]
}

/** Servers to close when the mill stops. The mill accepts calls until all of them are closed. */
export function serversOf(mill: object): Servers | undefined {
  return (mill as { readonly [SERVERS]?: Servers })[SERVERS]
}

export function millStopped(): JobmillError {
  return new JobmillError('MILL_STOPPED', 'this mill was stopped', {
    fix: 'Create a new mill with jobmill(), or stop this one after its last use',
  })
}
