import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** File → files of the same folder that it imports, types too; of what ships: neither specs nor what is for them. */
export function importsWithin(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.spec\.tsx?$|(^|\/)testing\//.test(file))
    .toSorted();
  const all = new Set(files);
  return new Map(
    files.map((file) => {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, file), 'utf8'), true, true);
      const sources = importedFiles
        .filter(({ fileName }) => fileName.startsWith('.'))
        .map(({ fileName }) => join(dirname(file), fileName).replace(/\.js$/, '.ts'));
      return [file, sources.filter((source) => all.has(source))];
    }),
  );
}
