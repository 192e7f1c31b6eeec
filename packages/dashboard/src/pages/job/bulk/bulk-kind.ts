/** The kind of bulk action jobs. */
export const BULK_KIND = 'jobmill.bulk'
