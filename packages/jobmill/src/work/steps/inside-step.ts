/** Detects a step that is called inside another one, by the stack, as inside-handler.ts does for handlers. */
import type { Lease } from '../../store/types/claim.ts'
import { functionsOnStack } from '../inside-handler.ts'

const nameOf = ({ id, token }: Lease): string => `runStep of ${id} ${token}`

/** Gives the function that awaits a step the name that `isInsideStep` looks for. */
export function asStepOf<F extends (...args: never[]) => unknown>(lease: Lease, run: F): F {
  return Object.defineProperty(run, 'name', { value: nameOf(lease) })
}

export function isInsideStep(lease: Lease): boolean {
  return functionsOnStack().includes(nameOf(lease))
}
