/** The problems that an alert rule follows, and what it sent about each. */
import type { Alert } from '../../../api/types.ts'
import { durationText } from '../../../kit/forms/duration.ts'
import { Badge } from '../../../kit/state.tsx'
import { checkWords, diagnosticText } from '../../../kit/text/check-words.ts'
import { Ago } from '../../../kit/text/time.tsx'

export function AlertProblems({
  alert: { name, problems, forMs, recovery, secretHints },
}: {
  readonly alert: Alert
}) {
  return (
    <div className="flex flex-col gap-3">
      <p className="text-soft">
        {forMs === 0 ? 'Sent immediately' : `Sent after ${durationText(forMs)}`}
        {recovery ? ', with a message when it is over' : ', without a message when it is over'}. Signed with{' '}
        <span className="font-mono text-xs">{secretHints.join(', ')}</span>.
      </p>
      {problems.length === 0 ? (
        <p className="text-soft">No current problems.</p>
      ) : (
        <ul aria-label={`Problems of ${name}`} className="divide-y divide-line">
          {problems.map(({ check, level, about, message, fix, since, sentAt }) => (
            <li
              key={`${check} ${about.what} ${about.name}`}
              className="flex flex-col gap-0.5 py-2 first:pt-0"
            >
              <span className="flex flex-wrap items-baseline gap-x-3">
                <Badge colour={level === 'error' ? 'text-dead' : 'text-ready'} text={level} />
                <span className="text-xs text-soft">{checkWords(check)}</span>
                <span className="text-xs text-soft">
                  since <Ago at={since} />, sent <Ago at={sentAt} otherwise="not yet" />
                </span>
              </span>
              <span className="break-words">{diagnosticText({ message, about })}</span>
              <span className="break-words text-soft">{fix}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
