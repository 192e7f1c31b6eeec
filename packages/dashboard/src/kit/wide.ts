/** Whether the window has room for more columns, as the breakpoint of 90rem in classes. */
import { useSyncExternalStore } from 'react'

const wide = matchMedia('(min-width: 90rem)')

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

export function useIsWide(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches)
}
