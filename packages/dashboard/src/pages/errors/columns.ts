/** The column grid of the error groups, shared by header and rows. */
export const COLUMNS =
  'lg:grid lg:grid-cols-[minmax(0,1fr)_6rem_4.5rem_4.5rem_7.5rem_7.5rem_6.5rem] lg:gap-x-4'
