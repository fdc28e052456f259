/** Packages whose pipelines run toys: programs written into a folder, and functions that a test builds into a worker. */
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSuccess, type KrmFunction } from '@backporch/kpt/function'
import type { BuiltIn, BuiltIns } from '@backporch/kpt/runtime'
import type { PackageFiles } from '@backporch/kyaml/files'
import { createYamlPlain, findTextAt, mapCreatedAt, setEntry } from '@backporch/kyaml/yaml'

export const CONFIG_MAP =
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\ndata:\n  color: blue\n'

/** A package with a ConfigMap, whose mutators are the given lines of YAML in flow style. */
export function toyPackage(
  mutators: readonly string[],
  more: { readonly [path: string]: string } = {},
): PackageFiles {
  const pipeline =
    mutators.length === 0
      ? ''
      : `pipeline:\n  mutators:\n${mutators.map((each) => `    - {${each}}\n`).join('')}`
  const files = {
    Kptfile: `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n${pipeline}`,
    'web.yaml': CONFIG_MAP,
    ...more,
  }
  return Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => ({
      path,
      content: new TextEncoder().encode(text),
      mode: '100644' as const,
    }))
}

/** Programs of shell, in a folder that goes with the test. */
export class ToyPrograms {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'toy-functions-')))

  /** @param body of a shell script; `$0`'s folder is `$here` @returns its path */
  add(name: string, body: string): string {
    const path = join(this.folder, name)
    writeFileSync(path, `#!/bin/sh\nhere=${this.folder}\n${body}\n`)
    chmodSync(path, 0o755)
    return path
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function toy(run: KrmFunction): BuiltIn {
  return {
    variants: [{ from: [0, 1, 0], below: [0, 2, 0], run }],
    newest: [0, 1, 0],
    last: undefined,
  }
}

const paint: KrmFunction = ({ items }) => {
  for (const item of items)
    if (findTextAt(item, 'kind') === 'ConfigMap')
      setEntry(mapCreatedAt(item, 'data'), 'color', createYamlPlain('green'))
  return createSuccess(items)
}

/** Built into `toy-render-worker.ts`. */
export const TOY_FUNCTIONS: BuiltIns = new Map([
  ['paint', toy(paint)],
  [
    'endless',
    toy(({ items }) => {
      let turns = 0
      while (turns >= 0) turns = (turns + 1) % 1000
      return createSuccess(items)
    }),
  ],
  [
    'hungry',
    toy(({ items }) => {
      const held: number[][] = []
      for (;;) {
        held.push(new Array<number>(100_000).fill(held.length))
        if (held.length < 0) return createSuccess(items)
      }
    }),
  ],
  [
    'broken',
    toy(() => {
      throw new TypeError('a toy broke')
    }),
  ],
  ['quits', toy(() => process.exit(7))],
])
