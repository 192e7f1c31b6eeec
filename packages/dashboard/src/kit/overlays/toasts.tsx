/**
 * Short messages about the result of an action, also announced to screen readers. A message can offer to undo
 * the action.
 */
import { useEffect, useState, useSyncExternalStore } from 'react'
import { X } from 'lucide-react'
import type { Problem } from '../../api/client.ts'
import { classes } from '../classes.ts'
import { Button, IconButton } from '../button.tsx'

export interface Message {
  /** What happened. */
  readonly text: string
  /** The consequence, or the fix of a problem. */
  readonly note?: string | undefined
  /** Undoes the action: the label of the button, and what it does. */
  readonly back?: { readonly verb: string; readonly go: () => void } | undefined
}

interface Toast extends Message {
  readonly key: number
  readonly isBad: boolean
}

const STAYS_MS = 6_000
/** Time to read the consequence, and to undo the action. */
const BACK_STAYS_MS = 12_000
const BAD_STAYS_MS = 15_000

let toasts: readonly Toast[] = []
let keys = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function add(message: Message, isBad: boolean): void {
  keys += 1
  change([...toasts.slice(-3), { ...message, isBad, key: keys }])
}

const remove = (key: number): void => change(toasts.filter((toast) => toast.key !== key))

export function say(message: string | Message): void {
  add(typeof message === 'string' ? { text: message } : message, false)
}

export function sayProblem({ message, field, fix }: Problem): void {
  add({ text: field === undefined ? message : `${field}: ${message}`, note: fix }, true)
}

function goBack({ key, back }: Toast): void {
  // Removed first: the message about the undo takes its place.
  remove(key)
  back?.go()
}

/** For the keyboard: undoes the latest action whose message offers that. */
export function goBackOnce(): void {
  const last = toasts.findLast(({ back }) => back !== undefined)
  if (last !== undefined) goBack(last)
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div
      role="status"
      aria-live="polite"
      className="fixed right-4 bottom-4 z-50 flex max-w-[min(28rem,calc(100vw-2rem))] flex-col gap-2"
    >
      {shown.map((toast) => (
        <ShownToast key={toast.key} toast={toast} />
      ))}
    </div>
  )
}

function ShownToast({ toast }: { readonly toast: Toast }) {
  const { key, text, note, back, isBad } = toast
  // The toast stays while the pointer or the focus is on it.
  const [isHeld, setHeld] = useState(false)
  const staysMs = isBad ? BAD_STAYS_MS : back === undefined ? STAYS_MS : BACK_STAYS_MS
  useEffect(() => {
    if (isHeld) return undefined
    const timer = setTimeout(() => remove(key), staysMs)
    return () => clearTimeout(timer)
  }, [isHeld, key, staysMs])
  return (
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className={classes(
        'flex items-start gap-2 rounded-lg border bg-card px-3 py-2 shadow-lg',
        isBad ? 'border-dead' : 'border-line',
      )}
    >
      <div className="min-w-0 grow self-center break-words">
        <p className={classes('font-medium', isBad && 'text-dead')}>{text}</p>
        {note !== undefined && <p className="text-soft">{note}</p>}
      </div>
      {back !== undefined && (
        <Button aria-label={`${back.verb}: ${text}`} onClick={() => goBack(toast)}>
          {back.verb}
        </Button>
      )}
      <IconButton label="Dismiss" icon={X} onClick={() => remove(key)} />
    </div>
  )
}
