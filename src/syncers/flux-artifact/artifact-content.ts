export interface ArtifactContent {
  /** `spec.ignore`, in addition to `.sourceignore` files. */
  readonly ignore: string | undefined
  /** `spec.sparseCheckout`; empty: all files. */
  readonly sparse: readonly string[]
  /** `spec.include`; paths are from the root of the artifact. */
  readonly included: readonly { readonly path: string; readonly title: string }[]
}

/** As source-controller `docs/spec/v1/gitrepositories.md`. */
import { type JsonObject, objectsIn, partOf, textOf, textsIn } from '@backporch/kyaml/json'

export function contentOf(source: JsonObject | undefined): ArtifactContent {
  const included = objectsIn(partOf(source, 'spec', 'include')).map((each) => {
    const name = textOf(each, 'repository', 'name')
    return { path: inRoot(textOf(each, 'toPath') || name), title: `GitRepository ${name}` }
  })
  const sparse = textsIn(partOf(source, 'spec', 'sparseCheckout')).map((path) =>
    path.replace(/^\.\//, ''),
  )
  return { ignore: textOf(source, 'spec', 'ignore') || undefined, sparse, included }
}

/** No `..` leaves the root of the artifact. */
function inRoot(path: string): string {
  const segments: string[] = []
  for (const each of path.split('/'))
    if (each === '..') segments.pop()
    else if (each !== '' && each !== '.') segments.push(each)
  return segments.join('/')
}
