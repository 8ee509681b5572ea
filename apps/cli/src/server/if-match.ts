/** An edit rests on this revision: the server refuses it where somebody was quicker. */
export const ifMatch = (revision: number): Record<string, string> => ({ 'if-match': `"${revision}"` });
