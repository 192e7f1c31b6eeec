/** Keyboard navigation: j and k move between rows, x selects the focused row, and Enter opens its link. */
import { useRef } from 'react'
import { useShortcut } from '../../../shell/shortcuts.tsx'
import { focusRow } from './use-returned-focus.ts'

export function useRowKeys(
  ids: readonly string[],
  toggle: ((id: string, isRange: boolean) => void) | null,
): void {
  // The last position, for when the focused row has left the page.
  const last = useRef(-1)

  function here(): number {
    const id = document.activeElement?.closest<HTMLElement>('[data-job]')?.dataset['job']
    const at = id === undefined ? -1 : ids.indexOf(id)
    return at === -1 ? last.current : at
  }

  function move(step: number): void {
    const at = Math.max(0, Math.min(ids.length - 1, here() + step))
    last.current = at
    focusRow(ids[at] ?? '')
  }

  useShortcut('j', 'Next job (Enter opens it)', () => move(1))
  useShortcut('k', 'Previous job', () => move(-1))
  useShortcut('x', 'Select job', () => {
    const id = ids[here()]
    if (id !== undefined) toggle?.(id, false)
  })
}
