/** Buttons and links. Dangerous actions look dangerous. */
import { ChevronRight, type LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from 'wouter'
import { classes } from './classes.ts'
import { Tip } from './overlays/tip.tsx'

const LOOKS = {
  plain: 'border border-line bg-card hover:bg-sunk',
  main: 'border border-transparent bg-accent text-accent-text hover:brightness-110',
  danger: 'border border-dead bg-card text-dead hover:bg-dead-soft',
  quiet: 'border border-transparent text-soft hover:bg-sunk hover:text-text',
} as const

type Look = keyof typeof LOOKS

const DISABLED =
  'disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50'
const SHAPE = `inline-flex h-8 items-center justify-center gap-1.5 rounded-md px-3 font-medium whitespace-nowrap ${DISABLED}`

interface CommonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Disables the button, and says why in its tooltip. */
  readonly disabledBecause?: string | undefined
}

/** A button that says why it is disabled must keep the focus and the pointer. */
const REFUSING = { 'aria-disabled': true, onClick: undefined } as const

interface Props extends CommonProps {
  readonly look?: Look
  readonly icon?: LucideIcon
}

export function Button({
  look = 'plain',
  icon: Icon,
  className,
  children,
  type = 'button',
  disabledBecause,
  ...rest
}: Props) {
  const button = (
    <button
      type={type}
      className={classes(SHAPE, LOOKS[look], className)}
      {...rest}
      {...(disabledBecause !== undefined && REFUSING)}
    >
      {Icon !== undefined && <Icon aria-hidden className="size-4 shrink-0" />}
      {children}
    </button>
  )
  return disabledBecause === undefined ? button : <Tip text={disabledBecause}>{button}</Tip>
}

interface IconProps extends CommonProps {
  /** What the button does: its accessible name and its tooltip. */
  readonly label: string
  readonly icon: LucideIcon
  /** The part of the label that is shown where there is room. */
  readonly word?: string
  /** Needs a wider window to show the word. */
  readonly isTight?: boolean
}

export function IconButton({
  label,
  icon: Icon,
  word,
  isTight = false,
  className,
  type = 'button',
  disabledBecause,
  ...rest
}: IconProps) {
  return (
    <Tip text={disabledBecause ?? label}>
      <button
        type={type}
        aria-label={label}
        className={classes(
          'inline-flex h-8 min-w-8 shrink-0 items-center justify-center gap-1.5 rounded-md text-soft hover:bg-sunk hover:text-text',
          word !== undefined && (isTight ? '2xl:px-2' : 'xl:px-2'),
          DISABLED,
          className,
        )}
        {...rest}
        {...(disabledBecause !== undefined && REFUSING)}
      >
        <Icon aria-hidden className="size-4 shrink-0" />
        {word !== undefined && <span className={isTight ? 'max-2xl:hidden' : 'max-xl:hidden'}>{word}</span>}
      </button>
    </Tip>
  )
}

/** A link that looks like a button. A quiet one looks like a link: it leads to the page behind a card. */
export function LinkButton({
  to,
  children,
  look = 'plain',
  onFollow,
}: {
  to: string
  children: ReactNode
  look?: Look
  /** Called when the link is followed, so that a dialog above the page can close. */
  onFollow?: () => void
}) {
  return (
    <Link
      href={to}
      onClick={onFollow}
      className={classes(SHAPE, look === 'quiet' ? 'text-accent hover:bg-sunk' : LOOKS[look])}
    >
      {children}
      {look === 'quiet' && <ChevronRight aria-hidden className="-mr-1.5 size-4 shrink-0" />}
    </Link>
  )
}

/** Links are underlined: color alone would not distinguish them from the text around them. */
export const LINK = 'text-accent underline decoration-current/30 underline-offset-2 hover:decoration-current'

/** A link in a text or a table. */
export function TextLink({
  to,
  children,
  className,
  onFollow,
}: {
  to: string
  children: ReactNode
  className?: string
  onFollow?: () => void
}) {
  return (
    <Link href={to} onClick={onFollow} className={classes(LINK, className)}>
      {children}
    </Link>
  )
}
