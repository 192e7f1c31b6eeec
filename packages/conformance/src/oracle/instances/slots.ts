/** Slots: how many workers each instance runs for a queue with a worker total. */
import { changeSlots, type SlotChange } from 'jobmill/store'
import { isAlive } from './liveness.ts'
import type { OracleState } from '../state.ts'

export function assign(state: OracleState, changes: readonly SlotChange[]): number {
  return changes.filter((change) => {
    const before = state.slots
    const isKnown = state.queues.has(change.queue) && isAlive(state, change.instance)
    if (isKnown) state.slots = changeSlots(before, change)
    return state.slots !== before
  }).length
}

export function dropSlots(state: OracleState, instance: string): void {
  state.slots = state.slots.filter((slot) => slot.instance !== instance)
}
