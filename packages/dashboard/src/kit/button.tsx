/** Buttons and links. Dangerous actions look dangerous. */
import type { LucideIcon } from 'lucide-react'
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

const SHAPE =
  'inline-flex h-8 items-center justify-center gap-1.5 rounded-md px-3 font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: Look
  readonly icon?: LucideIcon
}

export function Button({ look = 'plain', icon: Icon, className, children, type = 'button', ...rest }: Props) {
  return (
    <button type={type} className={classes(SHAPE, LOOKS[look], className)} {...rest}>
      {Icon !== undefined && <Icon aria-hidden className="size-4 shrink-0" />}
      {children}
    </button>
  )
}

interface IconProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** What the button does: its accessible name and its tooltip. */
  readonly label: string
  readonly icon: LucideIcon
}

export function IconButton({ label, icon: Icon, className, type = 'button', ...rest }: IconProps) {
  return (
    <Tip text={label}>
      <button
        type={type}
        aria-label={label}
        className={classes(
          'inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunk hover:text-text disabled:cursor-not-allowed disabled:opacity-50',
          className,
        )}
        {...rest}
      >
        <Icon aria-hidden className="size-4" />
      </button>
    </Tip>
  )
}

/** A link that looks like a button. */
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
    <Link href={to} onClick={onFollow} className={classes(SHAPE, LOOKS[look])}>
      {children}
    </Link>
  )
}

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
    <Link
      href={to}
      onClick={onFollow}
      className={classes('text-accent underline-offset-2 hover:underline', className)}
    >
      {children}
    </Link>
  )
}
