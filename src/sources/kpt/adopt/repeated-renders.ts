/**
 * Renders a package repeatedly, because committing the output of `kpt fn render` brings the second
 * render into the cluster (docs/adr/0052).
 */
import { writeItems } from '@backporch/kpt/render'
import type { PackageFile, PackageFiles } from '@backporch/kyaml/files'
import { getResourceKey } from '@backporch/kyaml/resource'
import type { Rendered } from '../../edits/prove-edit.ts'
import type { RenderedPackage } from '../render/render-package.ts'

/** For Adopt, a package that has not settled then never settles. */
export const MOST_RENDERS = 5

interface RepeatedRender {
  readonly files: PackageFiles
  readonly rendered: RenderedPackage
  readonly objects: Rendered
}

export class RepeatedRenders {
  private readonly known: RepeatedRender[]
  private readonly render: (files: PackageFiles) => RenderedPackage
  /** After the last known render; undefined if unknown, empty if it changes none. */
  private next: { readonly files?: PackageFiles } | undefined

  constructor(
    files: PackageFiles,
    first: RenderedPackage,
    render: (files: PackageFiles) => RenderedPackage,
  ) {
    this.known = [createRepeatedRender(files, first)]
    this.render = render
  }

  get first(): RepeatedRender {
    return this.known[0] as RepeatedRender
  }

  /**
   * From 1; if an earlier render changes no file, that one.
   * @throws Failure of the package
   */
  renderAt(number: number): RepeatedRender {
    while (this.known.length < number) {
      const files = this.getFilesAfterLast()
      if (files === undefined) break
      this.known.push(createRepeatedRender(files, this.render(files)))
      this.next = undefined
    }
    return this.known[number - 1] ?? this.last
  }

  /** @throws Failure of the package */
  isSettledAt(number: number): boolean {
    this.renderAt(number)
    return this.known.length <= number && this.getFilesAfterLast() === undefined
  }

  private getFilesAfterLast(): PackageFiles | undefined {
    this.next ??= computeFilesAfter(this.last)
    return this.next.files
  }

  private get last(): RepeatedRender {
    return this.known.at(-1) as RepeatedRender
  }
}

function createRepeatedRender(files: PackageFiles, rendered: RenderedPackage): RepeatedRender {
  return { files, rendered, objects: indexObjectsByKey(rendered) }
}

export function indexObjectsByKey({ desired }: RenderedPackage): Rendered {
  return new Map(desired.resources.map((resource) => [getResourceKey(resource.id), resource]))
}

function computeFilesAfter({ files, rendered: { run } }: RepeatedRender): {
  readonly files?: PackageFiles
} {
  if (run === undefined) return {}
  const written = writeItems(run.items)
  const left = new Map(written)
  let changed = false
  const after = files.flatMap((file): PackageFile[] => {
    const text = left.get(file.path)
    left.delete(file.path)
    if (text === undefined) {
      if (run.read.has(file.path)) changed = true
      return run.read.has(file.path) ? [] : [file]
    }
    if (text === decodeText(file)) return [file]
    changed = true
    return [{ ...file, content: new TextEncoder().encode(text) }]
  })
  for (const [path, text] of left)
    after.push({ path, mode: '100644', content: new TextEncoder().encode(text) })
  if (!changed && left.size === 0) return {}
  return { files: after.sort((one, other) => (one.path < other.path ? -1 : 1)) }
}

function decodeText({ content }: PackageFile): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
}

/** From the package. */
export function listDifferingFiles(one: PackageFiles, other: PackageFiles): readonly string[] {
  const texts = new Map(one.map((file) => [file.path, decodeText(file)]))
  const differing = other
    .filter((file) => texts.get(file.path) !== decodeText(file))
    .map(({ path }) => path)
  const paths = new Set(other.map(({ path }) => path))
  return [...differing, ...[...texts.keys()].filter((path) => !paths.has(path))].sort()
}
