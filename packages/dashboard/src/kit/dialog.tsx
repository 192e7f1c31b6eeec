/** Dialogs and drawers of the browser itself: it keeps the focus inside, closes them with Escape, and leaves the rest alone meanwhile. */
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { IconButton } from './button.tsx'
import { classes } from './classes.ts'

interface Props {
  readonly title: ReactNode
  readonly close: () => void
  readonly children: ReactNode
  /** From the side and as high as the page: for forms. */
  readonly isDrawer?: boolean
}

const FIRST = '[data-body] :is(input, select, textarea, button, a[href]):not(:disabled)'

/** There while it is rendered. */
export function Dialog({ title, close, children, isDrawer = false }: Props) {
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null)
  const heading = useId()
  useEffect(() => {
    // React renders twice in development.
    if (dialog?.open === false) {
      dialog.showModal()
      // What it is about comes first, not the button that closes it.
      dialog.querySelector<HTMLElement>(FIRST)?.focus()
    }
    return () => dialog?.close()
  }, [dialog])
  return (
    <dialog
      ref={setDialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onMouseDown={(event) => {
        // On what is behind it.
        if (event.target === dialog) close()
      }}
      onKeyDown={(event) => {
        // A menu takes the first Escape for itself.
        if (event.key !== 'Escape' || dialog?.querySelector('[role=menu]') !== null) return
        event.preventDefault()
        close()
      }}
      className={classes(
        'max-w-none bg-transparent p-0 text-text backdrop:bg-black/40',
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
        <header className="flex items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 id={heading} className="text-base font-semibold">
            {title}
          </h2>
          <IconButton label="Close" icon={X} onClick={close} />
        </header>
        <div data-body className="min-h-0 grow scroll-pb-20 overflow-y-auto p-4">
          {children}
        </div>
      </div>
    </dialog>
  )
}
