/** Whether the window has room for more columns: from 90rem on, like the breakpoint in class names. */
import { useSyncExternalStore } from 'react'

const wide = matchMedia('(min-width: 90rem)')

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

export function useIsWide(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches)
}
