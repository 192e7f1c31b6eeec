/** Slots: how many workers each instance runs for a queue with a worker total. */
import type { Slot, SlotChange } from 'jobmill/store'
import { isAlive } from './liveness.ts'
import type { OracleState } from '../state.ts'

export function assign(state: OracleState, changes: readonly SlotChange[]): number {
  return changes.filter((change) => assignOne(state, change)).length
}

/** False when there is nothing to write. */
function assignOne(state: OracleState, { instance, queue, workers }: SlotChange): boolean {
  if (!state.queues.has(queue) || !isAlive(state, instance)) return false
  const known = state.slots.find((slot) => slot.instance === instance && slot.queue === queue)
  if ((known?.workers ?? null) === workers) return false
  state.slots = state.slots.filter((slot) => slot !== known)
  if (workers !== null) state.slots.push({ instance, queue, workers })
  return true
}

export function dropSlots(state: OracleState, instance: string): void {
  state.slots = state.slots.filter((slot) => slot.instance !== instance)
}

export function readSlots(state: OracleState): Slot[] {
  return state.slots.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

/** No name contains a character that sorts before a space. */
function placeOf({ queue, instance }: Slot): string {
  return `${queue} ${instance}`
}
