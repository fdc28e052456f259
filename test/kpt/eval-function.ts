/** A function of the catalog, run by the real kpt over a package: what is then in the files and in the results. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runKpt, withFolder } from './find-kpt.ts'

/**
 * The function's program as `--exec` takes it: with the Node that runs the tests, because the one on the PATH may be older.
 *
 * @param beside URL of a file in the function's folder
 */
export function programOf(beside: string): string {
  return `${process.execPath} ${fileURLToPath(new URL('run.ts', beside))}`
}

export interface Evaluated {
  /** The package's files that are both set, as they are afterwards. */
  readonly files: { readonly [path: string]: string }
  /** Text of `results.yaml`, with `PROGRAM` for the program. */
  readonly results: string
}

/**
 * `kpt fn eval` of a package with a config that is not in it. kpt has to succeed.
 *
 * @param files of the package
 */
export function evalFunction(
  program: string,
  files: { readonly [path: string]: string },
  config: string,
): Evaluated {
  const inPackage = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`pkg/${path}`, text]),
  )
  return withFolder({ ...inPackage, 'config.yaml': config }, (folder) => {
    const run = runKpt(
      folder,
      'fn',
      'eval',
      'pkg',
      '--exec',
      program,
      '--fn-config',
      'config.yaml',
      '--results-dir',
      'results',
    )
    assert.ok(run.ok, run.stderr)
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
    return {
      files: Object.fromEntries(Object.keys(files).map((path) => [path, read(join('pkg', path))])),
      results: read('results/results.yaml').replace(program, 'PROGRAM'),
    }
  })
}
