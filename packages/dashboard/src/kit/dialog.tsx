/** Dialogs and drawers of the browser itself: it keeps the focus inside, closes them with Escape, and leaves the rest alone meanwhile. */
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { Button, IconButton } from './button.tsx'
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
  // Something was typed, which would be lost.
  const [isTouched, setTouched] = useState(false)
  const [asks, setAsks] = useState(false)
  const leave = (): void => (isTouched ? setAsks(true) : close())
  useEffect(() => {
    if (dialog === null) return undefined
    // The focus goes back to where it came from: React takes the dialog away before the browser could see to that.
    const from = document.activeElement
    // React renders twice in development.
    if (!dialog.open) dialog.showModal()
    // What it is about comes first, not the button that closes it.
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
        // What is wrong may be out of sight.
        setTimeout(() => dialog?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus())
      }
      onMouseDown={(event) => {
        // On what is behind it.
        if (event.target === dialog) leave()
      }}
      onKeyDown={(event) => {
        // A menu takes the first Escape for itself.
        if (event.key !== 'Escape' || dialog?.querySelector('[role=menu]') !== null) return
        event.preventDefault()
        leave()
      }}
      className={classes(
        // Wherever it stands in the page, a cell of a table for example, it looks the same.
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
        <header className="flex items-center justify-between gap-2 border-b border-line px-4 py-2">
          <h2 id={heading} className="text-base font-semibold">
            {title}
          </h2>
          <IconButton label="Close" icon={X} onClick={leave} />
        </header>
        {asks && (
          <div
            role="alert"
            className="flex flex-wrap items-center gap-2 border-b border-line bg-warn-soft px-4 py-2"
          >
            <p className="grow">What was typed here is not saved.</p>
            <Button onClick={() => setAsks(false)}>Go on typing</Button>
            <Button look="danger" onClick={close}>
              Drop it
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
