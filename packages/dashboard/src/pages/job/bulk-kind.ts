/** The kind of the jobs that act on many others. */
export const BULK_KIND = 'jobmill.bulk'
