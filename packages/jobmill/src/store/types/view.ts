/** A saved view: a filter of the job list with a name, for everyone who uses the dashboard. */

export interface NewView {
  /** Any text on one line. */
  readonly name: string
  /** The parameters of the job list, as in its address: `queue=mail&state=dead`. */
  readonly search: string
  /** Who saved it. */
  readonly by: string
}

export interface ViewRecord extends NewView {
  /** By the clock of the database. */
  readonly createdAt: number
}
