// PostgreSQL and PgBouncer refuse to run as root. In a container, where tests often run as root, they run as
// the user with the uid below, in a folder that belongs to it.
import { chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const nobody = 65534

/** Options for `spawn`: empty unless we are root. */
export const unprivileged = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

/** A new folder for a server in the temporary folder, owned by the user that the server runs as. */
export function serverFolder(name: string, under = tmpdir()): string {
  const folder = mkdtempSync(join(under, `jobmill-${name}-`))
  if (unprivileged.uid !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid)
  return folder
}
