/** One issue in a line: its severity, what it is, and a link. It expands to the whole text and the fix. */
import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { pauseAct, useAct } from '../../../api/acts.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { Diagnostic, QueueAndCounts } from '../../../api/types.ts'
import { Button, TextLink } from '../../../kit/button.tsx'
import { classes } from '../../../kit/classes.ts'
import { LEVELS } from '../../../kit/levels.ts'
import { diagnosticText } from '../../../kit/text/check-words.ts'
import { Countdown } from '../../../kit/text/time.tsx'
import { endCoolDown, queuePausing } from '../../queues/queue-now.ts'
import { type WayOut, wayOut } from './way-out.ts'

interface Props {
  readonly diagnostic: Diagnostic
  /** The queue it is about, and when that data was loaded. */
  readonly queue: QueueAndCounts | undefined
  readonly asOf: number
}

export function ProblemRow({ diagnostic, queue, asOf }: Props) {
  const [isOpen, setOpen] = useState(false)
  const fix = useId()
  const way = wayOut(diagnostic, queue?.settings)
  const { word, text, bar } = LEVELS[diagnostic.level]
  const message = diagnosticText(diagnostic)
  return (
    <li className="relative py-1 pr-2 pl-4">
      <span aria-hidden className={classes('absolute inset-y-0 left-0 w-1', bar)} />
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={fix}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 flex-1 basis-64 items-center gap-2 text-left"
        >
          <ChevronRight
            aria-hidden
            className={classes('size-4 shrink-0 text-soft transition-transform', isOpen && 'rotate-90')}
          />
          <span className={classes('shrink-0 font-medium', text)}>{word}</span>
          <span
            className={classes('min-w-0', isOpen ? 'break-words' : 'max-sm:line-clamp-2 sm:truncate')}
            title={message}
          >
            {message}
          </span>
        </button>
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1 whitespace-nowrap">
          {way.act === 'clear' && queue !== undefined && (
            <span className="text-soft">
              Resumes in <Countdown until={asOf + queue.settings.coolingMs} />
            </span>
          )}
          <TextLink to={way.to}>{way.text}</TextLink>
          {queue !== undefined && <QueueAct act={way.act} queue={queue} />}
        </span>
      </div>
      <p id={fix} hidden={!isOpen} className="pb-1 pl-6 break-words text-soft">
        {diagnostic.fix}
      </p>
    </li>
  )
}

function QueueAct({ act, queue }: { readonly act: WayOut['act']; readonly queue: QueueAndCounts }) {
  const may = useMay()
  const { actNow, isActing } = useAct()
  if (act === 'resume' && may('operator'))
    return (
      <Button disabled={isActing} onClick={() => actNow(pauseAct(false, queuePausing(queue.counts)))}>
        Resume queue
      </Button>
    )
  if (act === 'clear' && may('admin'))
    return (
      <Button disabled={isActing} onClick={() => actNow(endCoolDown(queue.settings.name))}>
        End cool-down
      </Button>
    )
  return null
}
