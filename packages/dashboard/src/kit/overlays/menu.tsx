/**
 * Menu button based on the browser's popover, which is on top of everything and closes on Escape or an
 * outside click.
 */
import type { LucideIcon } from 'lucide-react'
import {
  cloneElement,
  createContext,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { classes } from '../classes.ts'

const Close = createContext<() => void>(() => {})

interface Handlers {
  readonly onClick?: (event: { currentTarget: Element }) => void
}

const APART = 4
const EDGE = 8

/** `trigger`: a button that passes on the props it is given. */
export function Menu({
  trigger,
  children,
}: {
  readonly trigger: ReactElement<Handlers>
  readonly children: ReactNode
}) {
  const [opener, setOpener] = useState<Element | null>(null)
  const menu = useRef<HTMLDivElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    if (opener === null || menu.current === null) return
    menu.current.showPopover()
    putBeside(menu.current, opener)
    itemsOf(menu.current)[0]?.focus()
  }, [opener])
  return (
    <>
      {cloneElement(trigger, {
        'aria-haspopup': 'menu',
        'aria-expanded': opener !== null,
        'aria-controls': opener === null ? undefined : id,
        onClick: (event: { currentTarget: Element }) =>
          setOpener(opener === null ? event.currentTarget : null),
      } as Handlers)}
      {opener !== null && (
        <div
          ref={menu}
          id={id}
          role="menu"
          tabIndex={-1}
          popover="auto"
          onToggle={(event) => {
            if (event.newState === 'closed') setOpener(null)
          }}
          onKeyDown={move}
          className="fixed inset-auto m-0 max-h-96 min-w-44 overflow-y-auto rounded-lg border border-line bg-card p-1 text-text shadow-xl"
        >
          <Close value={() => menu.current?.hidePopover()}>{children}</Close>
        </div>
      )}
    </>
  )
}

/** Below the trigger and right-aligned, or above it where there is no room. */
function putBeside(menu: HTMLElement, opener: Element): void {
  const from = opener.getBoundingClientRect()
  const own = menu.getBoundingClientRect()
  const isBelow = from.bottom + own.height + EDGE < innerHeight || from.top < own.height
  menu.style.left = `${Math.max(EDGE, Math.min(from.right, innerWidth - EDGE) - own.width)}px`
  menu.style.top = `${isBelow ? from.bottom + APART : from.top - own.height - APART}px`
}

const itemsOf = (menu: Element): HTMLElement[] => [
  ...menu.querySelectorAll<HTMLElement>('[role^=menuitem]:not(:disabled)'),
]

/** Arrow keys, Home and End, or the first item that starts with the typed letter. */
function move(event: KeyboardEvent<HTMLElement>): void {
  const items = itemsOf(event.currentTarget)
  const at = items.indexOf(document.activeElement as HTMLElement)
  const next = {
    ArrowDown: items[(at + 1) % items.length],
    ArrowUp: items.at(at - 1),
    Home: items[0],
    End: items.at(-1),
  }[event.key]
  const rest = [...items.slice(at + 1), ...items.slice(0, at + 1)]
  const isLetter = event.key.length === 1 && event.key !== ' '
  const named = isLetter
    ? rest.find(({ innerText }) => innerText.toLowerCase().startsWith(event.key))
    : undefined
  const found = next ?? named
  if (found === undefined) return
  event.preventDefault()
  event.stopPropagation()
  found.focus()
}

const ITEM =
  'flex h-8 w-full items-center gap-2 rounded-md px-2 text-left whitespace-nowrap outline-none hover:bg-sunk focus:bg-sunk disabled:opacity-50'

interface ItemProps {
  readonly icon?: LucideIcon
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly select: () => void
  readonly children: ReactNode
}

export function MenuItem({
  icon: Icon,
  isDangerous = false,
  isDisabled = false,
  select,
  children,
}: ItemProps) {
  const close = useContext(Close)
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      disabled={isDisabled}
      onClick={() => {
        // Close first, so that the focus has returned before the action moves it.
        close()
        select()
      }}
      className={classes(ITEM, isDangerous && 'text-dead')}
    >
      {Icon !== undefined && <Icon aria-hidden className="size-4" />}
      {children}
    </button>
  )
}

interface CheckProps {
  readonly checked: boolean
  readonly change: (checked: boolean) => void
  readonly children: ReactNode
}

/** Stays open, so that several can be toggled. */
export function MenuCheck({ checked, change, children }: CheckProps) {
  return (
    <button
      type="button"
      role="menuitemcheckbox"
      tabIndex={-1}
      aria-checked={checked}
      onClick={() => change(!checked)}
      className={ITEM}
    >
      <span aria-hidden className="w-4 text-accent">
        {checked ? '✓' : ''}
      </span>
      {children}
    </button>
  )
}
