/**
 * The command palette: Ctrl+K or ⌘K opens it from everywhere, also while typing. The focus stays in its
 * field, and returns where it was. Pasting the id of a job outside a field opens the job.
 */
import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { classes } from '../../kit/classes.ts'
import { EnqueueDrawer } from '../../pages/enqueue/enqueue-drawer.tsx'
import { isTyping, useShortcut } from '../shortcuts.tsx'
import { type Command, jobIdIn } from './commands.ts'
import { useCommands } from './use-commands.ts'

/** For buttons that open it. */
export function openPalette(): void {
  dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true }))
}

export const PALETTE_KEYS = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'

export function Palette() {
  const [isOpen, setOpen] = useState(false)
  const [enqueues, setEnqueues] = useState<string | null>(null)
  useShortcut(PALETTE_KEYS, 'Search and commands', () => setOpen(true))
  usePastedId()
  useEffect(() => {
    function pressed(event: globalThis.KeyboardEvent): void {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      // Another dialog may have unsaved changes.
      if (document.querySelector('dialog[open]:not([data-palette])') === null) setOpen((before) => !before)
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
  return (
    <>
      {isOpen && <PaletteDialog close={() => setOpen(false)} enqueue={setEnqueues} />}
      {enqueues !== null && <EnqueueDrawer kind={enqueues} close={() => setEnqueues(null)} />}
    </>
  )
}

function usePastedId(): void {
  const [, go] = useLocation()
  useEffect(() => {
    function pasted({ clipboardData, target }: ClipboardEvent): void {
      if (isTyping(target) || document.querySelector('dialog[open]') !== null) return
      const id = jobIdIn(clipboardData?.getData('text') ?? '')
      if (id !== null) go(`/jobs/${id}`)
    }
    addEventListener('paste', pasted)
    return () => removeEventListener('paste', pasted)
  }, [go])
}

interface Props {
  readonly close: () => void
  readonly enqueue: (kind: string) => void
}

function PaletteDialog({ close, enqueue }: Props) {
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null)
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const list = useId()
  const commands = useCommands(text, {
    enqueue,
    shortcuts: () => dispatchEvent(new KeyboardEvent('keydown', { key: '?' })),
  })
  const at = Math.min(active, commands.length - 1)
  useEffect(() => {
    if (dialog === null) return undefined
    const from = document.activeElement
    if (!dialog.open) dialog.showModal()
    dialog.querySelector('input')?.focus()
    return () => {
      dialog.close()
      if (from instanceof HTMLElement && from.isConnected) from.focus()
    }
  }, [dialog])

  function run(command: Command | undefined): void {
    if (command === undefined) return
    close()
    // After the dialog has closed and returned the focus: the command may open another one.
    setTimeout(command.run)
  }

  function pressed(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && commands.length > 0) {
      event.preventDefault()
      setActive((at + step + commands.length) % commands.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(commands[at])
    }
  }

  return (
    <dialog
      ref={setDialog}
      data-palette
      aria-label="Search and commands"
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onMouseDown={(event) => {
        // A click on the backdrop.
        if (event.target === dialog) close()
      }}
      onKeyDown={pressed}
      className="mx-auto mt-[12dvh] mb-auto w-[min(36rem,calc(100vw-2rem))] max-w-none bg-transparent p-0 text-sm text-text backdrop:bg-black/40"
    >
      <div className="flex max-h-[min(28rem,70dvh)] flex-col rounded-xl border border-line bg-card shadow-2xl">
        <div className="flex items-center gap-2 border-b border-line px-3">
          <Search aria-hidden className="size-4 shrink-0 text-soft" />
          <input
            role="combobox"
            aria-label="Search and commands"
            aria-expanded
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
            autoComplete="off"
            spellCheck={false}
            placeholder="Job id, queue, kind, schedule, worker or action"
            value={text}
            onChange={({ target }) => {
              setText(target.value)
              setActive(0)
            }}
            className="h-12 min-w-0 grow bg-transparent outline-none"
          />
        </div>
        <div id={list} role="listbox" aria-label="Commands" className="min-h-0 overflow-y-auto p-1">
          {commands.map((command, index) => (
            <Option
              key={command.id}
              id={`${list}-${index}`}
              command={command}
              isActive={index === at}
              run={() => run(command)}
            />
          ))}
        </div>
        {commands.length === 0 && <p className="px-4 py-6 text-center text-soft">No matches</p>}
      </div>
    </dialog>
  )
}

interface OptionProps {
  readonly id: string
  readonly command: Command
  readonly isActive: boolean
  readonly run: () => void
}

function Option({ id, command: { name, type, icon: Icon }, isActive, run }: OptionProps) {
  return (
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      ref={(item) => {
        if (isActive) item?.scrollIntoView({ block: 'nearest' })
      }}
      // Run before the field loses focus.
      onMouseDown={(event) => {
        event.preventDefault()
        run()
      }}
      className={classes(
        'flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 hover:bg-sunk',
        isActive && 'bg-accent-soft',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-soft" />
      <span className="min-w-0 grow truncate">{name}</span>
      <span className="shrink-0 text-xs text-soft">{type}</span>
    </div>
  )
}
