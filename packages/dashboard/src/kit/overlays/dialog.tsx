/**
 * Dialogs and drawers built on the native <dialog>, which traps the focus, closes with Escape and makes the
 * rest inert.
 */
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import { classes } from '../classes.ts'

interface Props {
  readonly title: ReactNode
  readonly close: () => void
  readonly children: ReactNode
  /** Slides in from the side at full height, for forms. */
  readonly isDrawer?: boolean
}

const FIRST = '[data-body] :is(input, select, textarea, button, a[href]):not(:disabled)'

/** Open while it is rendered. */
export function Dialog({ title, close, children, isDrawer = false }: Props) {
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null)
  const heading = useId()
  // The user typed something that closing would discard.
  const [isTouched, setTouched] = useState(false)
  const [asks, setAsks] = useState(false)
  const leave = (): void => (isTouched ? setAsks(true) : close())
  useEffect(() => {
    if (dialog === null) return undefined
    // Restore the focus: React removes the dialog before the browser can do that.
    const from = document.activeElement
    // React runs effects twice in development.
    if (!dialog.open) dialog.showModal()
    // Focus the content first, not the close button.
    dialog.querySelector<HTMLElement>(FIRST)?.focus()
    return () => {
      dialog.close()
      if (from instanceof HTMLElement && from.isConnected) from.focus()
    }
  }, [dialog])
  return (
    <dialog
      ref={setDialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
      onInput={() => setTouched(true)}
      onSubmit={() =>
        // The first problem may be scrolled out of view.
        setTimeout(() => dialog?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
      }
      onMouseDown={(event) => {
        // A click on the backdrop.
        if (event.target === dialog) leave()
      }}
      onKeyDown={(event) => {
        // An open menu handles the first Escape.
        if (event.key !== 'Escape' || dialog?.querySelector('[role=menu]') !== null) return
        event.preventDefault()
        leave()
      }}
      className={classes(
        // Resets inherited styles, because it may be rendered inside a table cell.
        'max-w-none bg-transparent p-0 text-left text-sm font-normal whitespace-normal text-text backdrop:bg-black/40',
        isDrawer
          ? 'mr-0 ml-auto h-dvh max-h-dvh w-[min(40rem,100vw)]'
          : 'm-auto w-[min(34rem,calc(100vw-2rem))]',
      )}
    >
      <div
        className={classes(
          'flex flex-col border border-line bg-card shadow-2xl',
          isDrawer ? 'h-full' : 'max-h-[calc(100dvh-4rem)] rounded-xl',
        )}
      >
        {/* Not a header: the dialog may be inside of one. */}
        <div className="flex items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 id={heading} className="text-base font-semibold">
            {title}
          </h2>
          <IconButton label="Close" icon={X} onClick={leave} />
        </div>
        {asks && (
          <div
            role="alert"
            className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-4 py-2"
          >
            <p className="grow">You have unsaved changes.</p>
            <Button onClick={() => setAsks(false)}>Keep editing</Button>
            <Button look="danger" onClick={close}>
              Discard changes
            </Button>
          </div>
        )}
        <div data-body className="min-h-0 grow scroll-pb-20 overflow-y-auto p-4">
          {children}
        </div>
      </div>
    </dialog>
  )
}
