/** All diagnostics, worst first. */
import { useDiagnostics } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Diagnostic } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { TextLink } from '../../kit/button.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { LEVELS } from '../../kit/levels.ts'
import { Badge } from '../../kit/state.tsx'
import { checkWords, diagnosticText } from '../../kit/text/check-words.ts'
import { wayOut } from '../overview/problems/way-out.ts'
import { alertAddress } from './alerts/alert-address.ts'

export function Diagnostics() {
  const read = useDiagnostics()
  const may = useMay()
  return (
    <Card title="Diagnostics">
      <DataView read={read} shape="list">
        {({ diagnostics }) =>
          diagnostics.length === 0 ? (
            <p className="text-soft">
              No issues. Checked: failing kinds, processes, duties, queues, limits, schedules and the
              database.
            </p>
          ) : (
            <ul aria-label="Diagnostics" className="divide-y divide-line">
              {diagnostics.map(({ check, level, message, fix, about }) => (
                <li
                  key={`${check} ${about.what} ${about.name} ${message}`}
                  className="flex flex-col gap-0.5 py-2 first:pt-0"
                >
                  <span className="flex flex-wrap items-baseline gap-x-3">
                    <Badge colour={LEVELS[level].text} text={level} />
                    <span className="text-xs text-soft">{checkWords(check)}</span>
                  </span>
                  <span className="break-words">{diagnosticText({ message, about })}</span>
                  <span className="flex flex-wrap gap-x-4">
                    <span className="min-w-0 break-words text-soft">{fix}</span>
                    <Way diagnostic={{ check, about }} />
                    {may('admin') && <TextLink to={alertAddress({ check, about })}>New alert rule</TextLink>}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </DataView>
    </Card>
  )
}

/** The page that explains it, unless that is this one. */
function Way({ diagnostic }: { readonly diagnostic: Pick<Diagnostic, 'check' | 'about'> }) {
  const { to, text } = wayOut(diagnostic, undefined)
  return to === '/system' ? null : <TextLink to={to}>{text}</TextLink>
}
