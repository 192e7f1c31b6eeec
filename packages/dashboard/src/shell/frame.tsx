/** The frame around every page: menu, top bar and store name. */
import { Menu as MenuIcon, X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useLive } from '../api/live/live.ts'
import { useOverview } from '../api/reads.ts'
import { IconButton } from '../kit/button.tsx'
import { classes } from '../kit/classes.ts'
import { compact } from '../kit/text/format.ts'
import { Boundary } from './boundary.tsx'
import { TopBar } from './top-bar.tsx'
import { Unreachable } from './unreachable.tsx'
import { type NavCount, navCounts } from './nav-counts.ts'
import { type Place, PLACES } from './places.ts'
import { useShortcut } from './shortcuts.tsx'
import { useAppPlaces } from './use-app-places.ts'

export function Frame({ children }: { readonly children: ReactNode }) {
  useLive()
  const [path] = useLocation()
  const [isOpen, setOpen] = useState(false)
  const counts = navCounts(useOverview().data)
  const places: readonly Place[] = [...PLACES, ...(useAppPlaces() ?? [])]
  const here = places.find((one) => isAt(path, one.path))?.name
  useEffect(() => {
    document.title = `${here === undefined ? '' : `${here} · `}Jobmill`
  }, [here])
  return (
    <div className="flex min-h-dvh flex-col lg:flex-row">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-card p-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <section
        aria-label="Menu"
        className="flex items-center justify-between border-b border-line bg-card px-3 py-2 lg:hidden"
      >
        <Mark />
        <IconButton
          label={isOpen ? 'Close menu' : 'Open menu'}
          aria-expanded={isOpen}
          icon={isOpen ? X : MenuIcon}
          onClick={() => setOpen(!isOpen)}
        />
      </section>
      <aside
        className={classes(
          'shrink-0 flex-col gap-4 border-line bg-card p-3 lg:sticky lg:top-0 lg:flex lg:h-dvh lg:w-52 lg:border-r',
          isOpen ? 'flex border-b' : 'hidden',
        )}
      >
        <div className="hidden px-2 pt-1 lg:block">
          <Mark />
        </div>
        <nav aria-label="Pages" className="flex flex-col gap-0.5">
          {places.map(({ path: to, name, icon, letter }) => (
            <NavLink
              key={to}
              path={to}
              name={name}
              icon={icon}
              letter={letter}
              count={counts.get(to)}
              isHere={isAt(path, to)}
              onFollow={() => setOpen(false)}
            />
          ))}
        </nav>
        <Where />
      </aside>
      <div className="flex min-w-0 grow flex-col">
        <TopBar />
        <Unreachable />
        <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[96rem] grow p-4 outline-none lg:p-6">
          <Boundary key={path}>{children}</Boundary>
        </main>
      </div>
    </div>
  )
}

const isAt = (path: string, place: string): boolean =>
  place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`)

function Mark() {
  return (
    <Link href="/" className="flex items-center gap-2 font-semibold tracking-tight">
      <img src="./mark.svg" alt="" className="size-6" />
      Mission Control
    </Link>
  )
}

interface NavLinkProps extends Place {
  readonly count: NavCount | undefined
  readonly isHere: boolean
  readonly onFollow: () => void
}

function NavLink({ path, name, icon: Icon, letter, count, isHere, onFollow }: NavLinkProps) {
  const [, go] = useLocation()
  useShortcut(`g ${letter}`, `Go to ${name}`, () => go(path))
  return (
    <Link
      href={path}
      onClick={onFollow}
      aria-current={isHere ? 'page' : undefined}
      className={classes(
        'flex h-9 items-center gap-2.5 rounded-md px-2',
        isHere ? 'bg-accent-soft font-medium text-text' : 'text-soft hover:bg-sunk hover:text-text',
      )}
    >
      <Icon aria-hidden className="size-4" />
      {name}
      {count !== undefined && (
        <span
          title={count.label}
          className={classes(
            'ml-auto text-xs font-medium tabular-nums',
            count.isBad ? 'text-dead' : 'text-ready',
          )}
        >
          <span aria-hidden>{compact(count.n)}</span>
          <span className="sr-only">{count.label}</span>
        </span>
      )}
    </Link>
  )
}

/** Names the store, so that operators do not act on the wrong one. */
function Where() {
  const { data } = useOverview()
  if (data === undefined) return null
  return (
    <div className="mt-auto px-2 text-xs text-soft">
      <p className="break-words">{data.store}</p>
      <p>jobmill {data.version}</p>
    </div>
  )
}
