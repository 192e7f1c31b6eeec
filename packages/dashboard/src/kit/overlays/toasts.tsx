/** Short messages about the result of an action, also announced to screen readers. */
import { useSyncExternalStore } from 'react'
import { X } from 'lucide-react'
import type { Problem } from '../../api/client.ts'
import { classes } from '../classes.ts'
import { IconButton } from '../button.tsx'

interface Toast {
  readonly key: number
  readonly text: string
  readonly fix: string | undefined
  readonly isBad: boolean
}

const STAYS_MS = 6_000
const BAD_STAYS_MS = 15_000

let toasts: readonly Toast[] = []
let keys = 0
const listeners = new Set<() => void>()

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function add(toast: Omit<Toast, 'key'>): void {
  keys += 1
  const key = keys
  change([...toasts.slice(-3), { ...toast, key }])
  setTimeout(() => remove(key), toast.isBad ? BAD_STAYS_MS : STAYS_MS)
}

const remove = (key: number): void => change(toasts.filter((toast) => toast.key !== key))

export const say = (text: string): void => add({ text, fix: undefined, isBad: false })

export function sayProblem({ message, field, fix }: Problem): void {
  add({ text: field === undefined ? message : `${field}: ${message}`, fix, isBad: true })
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
      className="fixed right-4 bottom-4 z-50 flex max-w-[min(26rem,calc(100vw-2rem))] flex-col gap-2"
    >
      {shown.map(({ key, text, fix, isBad }) => (
        <div
          key={key}
          className={classes(
            'flex items-start gap-2 rounded-lg border bg-card px-3 py-2 shadow-lg',
            isBad ? 'border-dead' : 'border-line',
          )}
        >
          <div className="min-w-0 grow break-words">
            <p className={classes('font-medium', isBad && 'text-dead')}>{text}</p>
            {fix !== undefined && <p className="text-soft">{fix}</p>}
          </div>
          <IconButton label="Dismiss" icon={X} onClick={() => remove(key)} />
        </div>
      ))}
    </div>
  )
}
