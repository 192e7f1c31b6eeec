/** Keyboard shortcuts and the sheet that lists them. A shortcut is one key, or two in sequence: `g j`. */
import { useEffect, useRef, useState } from 'react'
import { Dialog } from '../kit/overlays/dialog.tsx'

interface Shortcut {
  readonly keys: string
  readonly says: string
  readonly act: () => void
}

const known = new Set<{ current: Shortcut }>()
const TOGETHER_MS = 1_000

/** Active while the calling component is mounted. */
export function useShortcut(keys: string, says: string, act: () => void): void {
  const shortcut = useRef<Shortcut>({ keys, says, act })
  useEffect(() => {
    shortcut.current = { keys, says, act }
  })
  useEffect(() => {
    const mine = shortcut
    known.add(mine)
    return () => void known.delete(mine)
  }, [])
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

export function Shortcuts() {
  const [isShown, setShown] = useState(false)
  useShortcut('?', 'Show keyboard shortcuts', () => setShown(true))
  useEffect(() => {
    let first = { key: '', at: 0 }
    function pressed(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      // A dialog has its own keys, and in a menu letters select items.
      if (document.querySelector('dialog[open], [role="menu"]') !== null) return
      const pair = event.timeStamp - first.at < TOGETHER_MS ? `${first.key} ${event.key}` : ''
      first = { key: event.key, at: event.timeStamp }
      for (const wanted of [pair, event.key]) {
        const found = [...known].find(({ current }) => current.keys === wanted)
        if (found === undefined) continue
        event.preventDefault()
        first = { key: '', at: 0 }
        found.current.act()
        return
      }
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
  if (!isShown) return null
  return (
    <Dialog title="Keyboard shortcuts" close={() => setShown(false)}>
      <ul className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
        {[...known].map(({ current: { keys, says } }) => (
          <li key={keys} className="flex items-center justify-between gap-4">
            <span>{says}</span>
            <span className="flex gap-1">
              {keys.split(' ').map((key) => (
                <kbd key={key} className="rounded border border-line bg-sunk px-1.5 font-mono text-xs">
                  {key}
                </kbd>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
