/** `[` and `]` open the previous and the next job of the list that this one was opened from. */
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import { useShortcut } from '../../shell/shortcuts.tsx'
import { neighborOf, noteOpened } from '../jobs/list/visited.ts'

export function useNeighbors(id: string): void {
  const [, go] = useLocation()
  useEffect(() => noteOpened(id), [id])
  // Replaced, so that Back still leads to the list.
  const open = (step: 1 | -1): void => {
    const neighbor = neighborOf(id, step)
    if (neighbor !== undefined) go(`/jobs/${neighbor}`, { replace: true })
  }
  useShortcut('[', 'Previous job in the list', () => open(-1))
  useShortcut(']', 'Next job in the list', () => open(1))
}
