/** A section with a heading. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

interface Props {
  readonly title?: ReactNode
  /** Buttons or choices next to the heading. */
  readonly tools?: ReactNode
  /** Without padding, for tables. */
  readonly flush?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export function Card({ title, tools, flush = false, className, children }: Props) {
  const isBare = title === undefined && tools === undefined
  return (
    <section className={classes('min-w-0 rounded-xl border border-line bg-card', className)}>
      {!isBare && (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-2 px-4 pt-2 pb-1">
          <h2 className="text-sm font-semibold">{title}</h2>
          {tools !== undefined && <div className="flex flex-wrap items-center gap-1.5">{tools}</div>}
        </header>
      )}
      <div
        className={
          flush
            ? classes(
                'scrolls @container relative overflow-x-auto rounded-b-[calc(var(--radius-xl)-1px)] pb-1',
                // Otherwise a pinned cell covers the corner.
                isBare && 'rounded-t-[calc(var(--radius-xl)-1px)]',
              )
            : classes('px-4 pb-4', title === undefined && 'pt-4')
        }
      >
        {children}
      </div>
    </section>
  )
}

/** Name and value pairs, aligned. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="grid grid-cols-[max-content_1fr] content-start gap-x-4 gap-y-1.5">{children}</dl>
}

export function Fact({ name, children }: { readonly name: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  )
}

/** The top of a page: its title and its actions. */
export function PageHead({
  title,
  note,
  children,
}: {
  readonly title: ReactNode
  readonly note?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {note !== undefined && <p className="text-soft">{note}</p>}
      </div>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </div>
  )
}
