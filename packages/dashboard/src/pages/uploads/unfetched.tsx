/** Bad news that does not go away with the files: they expired, and nobody had fetched them. */
import type { MailboxPage } from '../../api/types/uploads.ts'
import { TextLink } from '../../kit/button.tsx'
import { plural } from '../../kit/format.ts'
import { Ago } from '../../kit/time.tsx'
import { at } from './at.ts'

export function Unfetched({ of }: { readonly of: MailboxPage['expiredUnfetched'] }) {
  if (of.length === 0) return null
  return (
    <div
      role="alert"
      className="mb-4 rounded-xl border border-dead bg-dead-soft px-4 py-3 break-words text-dead"
    >
      <p className="font-medium">
        Files expired before anybody fetched them, and are gone. Look whether their consumer runs.
      </p>
      <ul>
        {of.map(({ id, name, files, lastAt }) => (
          <li key={id}>
            <TextLink to={`/apps/uploads/${id}`} className="font-medium">
              {name}
            </TextLink>
            : {plural(files, 'file')} so far, the last <Ago at={at(lastAt)} />
          </li>
        ))}
      </ul>
    </div>
  )
}
