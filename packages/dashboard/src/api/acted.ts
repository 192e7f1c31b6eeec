/** Counts what the user did, so that lists that hold still show the result. */
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let acts = 0

export function noteAct(): void {
  acts += 1
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useActs(): number {
  return useSyncExternalStore(subscribe, () => acts)
}
