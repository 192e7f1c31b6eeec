/** Builds the commands of the palette: where to go, and what to do, as far as the user's role allows. */
import { useQueryClient } from '@tanstack/react-query'
import {
  Bookmark,
  CalendarClock,
  Hash,
  Keyboard,
  Layers,
  ListFilter,
  Pause,
  Play,
  Plus,
  RefreshCw,
  Server,
  Shapes,
  SunMoon,
} from 'lucide-react'
import { useLocation } from 'wouter'
import { noteAct } from '../../api/acted.ts'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useKinds, useOverview, useSchedules, useViews } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import { shortId } from '../../kit/text/format.ts'
import { toSearch } from '../../pages/jobs/filter/address.ts'
import { parse } from '../../pages/jobs/filter/parse.ts'
import { viewAddress } from '../../pages/jobs/views/view-address.ts'
import { scheduleAddress } from '../../pages/schedules/schedule-address.ts'
import { PLACES } from '../places.ts'
import { toggleTheme } from '../theme.ts'
import { useAppPlaces } from '../use-app-places.ts'
import { type Command, jobIdIn, matching } from './commands.ts'

interface Opens {
  readonly enqueue: (kind: string) => void
  readonly shortcuts: () => void
}

export function useCommands(text: string, opens: Opens): readonly Command[] {
  const destinations = useDestinations()
  const actions = useActions(opens)
  const asked = useAsked(text)
  return [...asked.first, ...matching([...destinations, ...actions], text), ...asked.last]
}

function useDestinations(): readonly Command[] {
  const [, go] = useLocation()
  const overview = useOverview().data
  const kinds = useKinds().data?.kinds ?? []
  const schedules = useSchedules().data?.schedules ?? []
  const views = useViews().data?.views ?? []
  const appPlaces = useAppPlaces() ?? []
  const to = (type: string, name: string, icon: Command['icon'], path: string): Command => ({
    id: `${type} ${name}`,
    name,
    type,
    icon,
    run: () => go(path),
  })
  return [
    ...[...PLACES, ...appPlaces].map(({ name, icon, path }) => ({
      ...to('Page', name, icon, path),
      isFirst: true,
    })),
    ...(overview?.queues ?? []).map(({ settings: { name } }) =>
      to('Queue', name, Layers, `/queues#${encodeName(name)}`),
    ),
    ...kinds.map(({ kind }) => to('Kind', kind, Shapes, `/kinds/${encodeName(kind)}`)),
    ...views.map((view) => to('View', view.name, Bookmark, viewAddress(view))),
    ...schedules.map(({ name }) => to('Schedule', name, CalendarClock, scheduleAddress(name))),
    ...(overview?.instances ?? []).map(({ id, label }) => ({
      ...to('Worker', label ?? shortId(id), Server, '/workers'),
      id: `Worker ${id}`,
    })),
  ]
}

function useActions({ enqueue, shortcuts }: Opens): readonly Command[] {
  const may = useMay()
  const { act } = useAct()
  const client = useQueryClient()
  const queues = useOverview().data?.queues ?? []
  const kinds = useKinds().data?.kinds ?? []
  const pause = (name: string, paused: boolean): void => {
    const verb = paused ? 'resume' : 'pause'
    const path = `queues/${encodeName(name)}/${verb}`
    // The error was already shown as a toast.
    act({ method: 'POST', path, done: `${paused ? 'Resumed' : 'Paused'} ${name}` }).catch(() => {})
  }
  const forOperators = [
    ...queues.map(({ settings: { name, paused } }) =>
      action(`${paused ? 'Resume' : 'Pause'} queue ${name}`, paused ? Play : Pause, () =>
        pause(name, paused),
      ),
    ),
    ...kinds.map(({ kind }) => action(`Enqueue ${kind}`, Plus, () => enqueue(kind))),
  ]
  const general = [
    action('Toggle theme', SunMoon, toggleTheme),
    action('Refresh now', RefreshCw, () => void client.invalidateQueries().then(noteAct)),
    action('Show keyboard shortcuts', Keyboard, shortcuts),
  ].map((command) => ({ ...command, isFirst: true }))
  return [...(may('operator') ? forOperators : []), ...general]
}

const action = (name: string, icon: Command['icon'], run: () => void): Command => ({
  id: `Action ${name}`,
  name,
  type: 'Action',
  icon,
  run,
})

/** What the text itself asks for: a job by its id, or a list of jobs by a filter. */
function useAsked(text: string): { readonly first: readonly Command[]; readonly last: readonly Command[] } {
  const [, go] = useLocation()
  const mayPayload = useMay()('operator')
  const id = jobIdIn(text)
  if (id !== null) {
    const open = { id: 'Job', name: id, type: 'Job', icon: Hash, run: () => go(`/jobs/${id}`) }
    return { first: [open], last: [] }
  }
  const { filter, wrong } = parse(text, { mayPayload })
  if (text.trim() === '' || wrong.length > 0) return { first: [], last: [] }
  const list = {
    id: 'Jobs',
    name: text.trim(),
    type: 'Filter jobs',
    icon: ListFilter,
    run: () => go(`/jobs?${toSearch(filter)}`),
  }
  return { first: [], last: [list] }
}
