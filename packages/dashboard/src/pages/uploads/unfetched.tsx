/** Warns about files that expired unfetched. The warning outlives the files. */
import type { MailboxPage } from '../../api/upload-types.ts'
import { TextLink } from '../../kit/button.tsx'
import { plural } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'
import { at } from './at.ts'

export function Unfetched({ of }: { readonly of: MailboxPage['expiredUnfetched'] }) {
  if (of.length === 0) return null
  return (
    <div
      role="alert"
      className="mb-4 rounded-xl border border-dead bg-dead-soft px-4 py-3 break-words text-dead"
    >
      <p className="font-medium">
        Files expired before they were fetched and are gone. Check that their consumer is running.
      </p>
      <ul>
        {of.map(({ id, name, files, lastAt }) => (
          <li key={id}>
            <TextLink to={`/apps/uploads/${id}`} className="font-medium">
              {name}
            </TextLink>
            : {plural(files, 'file')}, latest <Ago at={at(lastAt)} />
          </li>
        ))}
      </ul>
    </div>
  )
}
