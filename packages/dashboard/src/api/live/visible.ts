/** Whether the tab is visible. A hidden tab should cause no work on the server. */
import { useSyncExternalStore } from 'react'

function subscribe(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

export function useVisible(): boolean {
  return useSyncExternalStore(subscribe, () => !document.hidden)
}
