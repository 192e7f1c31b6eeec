/** Signals the stop of a mill to parts that are given only the mill. It is not part of the public API. */
import { JobmillError } from '../job/errors.ts'

/** A property instead of a WeakMap, because objects that wrap a mill inherit or copy it. */
const STOPPED = Symbol.for('jobmill.stopped')

export function keepStopSignal(mill: object, signal: AbortSignal): void {
  Object.defineProperty(mill, STOPPED, { value: signal, enumerable: true })
}

/** Fires when the mill accepts no more calls, whether it was started or not. Its reason is MILL_STOPPED. */
export function stopSignalOf(mill: object): AbortSignal | undefined {
  return (mill as { readonly [STOPPED]?: AbortSignal })[STOPPED]
}

export function millStopped(): JobmillError {
  return new JobmillError('MILL_STOPPED', 'this mill was stopped', {
    fix: 'Create a new mill with jobmill(), or stop this one after its last use',
  })
}
