/** The top bar: enqueue, refresh interval, theme and sign-out. */
import { useQueryClient } from '@tanstack/react-query'
import { Keyboard, LogOut, Moon, Plus, RefreshCw, Search, Sun } from 'lucide-react'
import { useState } from 'react'
import { noteAct } from '../api/acted.ts'
import { PACES, pace, usePace, type Pace } from '../api/live/live.ts'
import { useOverview } from '../api/reads.ts'
import { useMay } from '../api/user/roles.ts'
import type { Overview } from '../api/types.ts'
import { signOut, token } from '../api/user/session.ts'
import { Button, IconButton } from '../kit/button.tsx'
import { Select } from '../kit/forms/field.tsx'
import { Bar } from '../kit/skeleton.tsx'
import { goBackOnce } from '../kit/overlays/toasts.tsx'
import { EnqueueDrawer } from '../pages/enqueue/enqueue-drawer.tsx'
import { toggleTheme, useTheme } from './theme.ts'
import { openPalette, PALETTE_KEYS } from './palette/palette.tsx'
import { useShortcut } from './shortcuts.tsx'

export function TopBar() {
  const client = useQueryClient()
  const may = useMay()
  const theme = useTheme()
  const seconds = usePace()
  const you = useOverview().data?.you
  const [isEnqueuing, setEnqueuing] = useState(false)
  const refresh = (): void => void client.invalidateQueries().then(noteAct)
  useShortcut('t', 'Toggle theme', toggleTheme)
  useShortcut('r', 'Refresh now', refresh)
  useShortcut('z', 'Undo', goBackOnce)
  useShortcut('n', 'Enqueue job', () => {
    if (may('operator')) setEnqueuing(true)
  })
  return (
    <header className="flex flex-wrap items-center justify-end gap-2 border-b border-line bg-card px-4 py-2">
      <Who you={you} />
      <span className="grow" />
      <Button icon={Search} onClick={openPalette} title="Search and commands">
        <span className="max-sm:sr-only">Search</span>
        <kbd
          aria-hidden
          className="rounded border border-line bg-sunk px-1.5 font-mono text-xs text-soft max-sm:hidden"
        >
          {PALETTE_KEYS}
        </kbd>
      </Button>
      <label className="inline-flex items-center gap-2 text-soft">
        <span className="max-sm:sr-only">Refresh</span>
        <Select value={seconds} onChange={(event) => pace.set(Number(event.target.value) as Pace)}>
          {PACES.map((one) => (
            <option key={one} value={one}>
              {one === 0 ? 'off' : `${one} s`}
            </option>
          ))}
        </Select>
      </label>
      <IconButton label="Refresh now (r)" icon={RefreshCw} onClick={refresh} />
      <IconButton
        label={`${theme === 'dark' ? 'Light' : 'Dark'} theme (t)`}
        icon={theme === 'dark' ? Sun : Moon}
        onClick={toggleTheme}
      />
      <IconButton
        label="Keyboard shortcuts (?)"
        icon={Keyboard}
        className="max-sm:hidden"
        onClick={() => dispatchEvent(new KeyboardEvent('keydown', { key: '?' }))}
      />
      {may('operator') && (
        <Button look="main" icon={Plus} onClick={() => setEnqueuing(true)}>
          {ENQUEUE}
        </Button>
      )}
      {/* Keeps the place of the button until the role is known, so that the others do not move. */}
      {you === undefined && (
        <Button aria-hidden disabled icon={Plus} className="invisible">
          {ENQUEUE}
        </Button>
      )}
      {isEnqueuing && <EnqueueDrawer close={() => setEnqueuing(false)} />}
    </header>
  )
}

const ENQUEUE = <span className="max-sm:sr-only">Enqueue</span>

function Who({ you }: { readonly you: Overview['you'] | undefined }) {
  if (you === undefined) return <Bar className="h-4 w-24" />
  const { name, role } = you
  return (
    <div className="flex items-center gap-1 text-soft">
      <span>
        <b className="font-medium text-text">{name}</b> · {role}
      </span>
      {token() !== null && (
        <IconButton
          label="Sign out"
          icon={LogOut}
          onClick={() => {
            signOut()
            location.reload()
          }}
        />
      )}
    </div>
  )
}
