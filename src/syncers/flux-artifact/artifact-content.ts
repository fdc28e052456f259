/** What decides which files of the repository an artifact has. */
export interface ArtifactContent {
  /** Patterns of files that it leaves out (`spec.ignore`), beside those of `.sourceignore` files. */
  readonly ignore: string | undefined
  /** Beginnings of the paths that it has (`spec.sparseCheckout`); empty where it has all. */
  readonly sparse: readonly string[]
  /** Folders with files of other repositories (`spec.include`), from the root of the artifact. */
  readonly included: readonly { readonly path: string; readonly title: string }[]
}

/** What the fields of a GitRepository of Flux say about its artifact (source-controller `docs/spec/v1/gitrepositories.md`). */
import { type JsonObject, objectsIn, partOf, textOf, textsIn } from '@backporch/kyaml/json'

/** What the fields of a GitRepository say about its artifact. */
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

/** The controller joins the path to the root of the artifact, and no `..` leaves it. */
function inRoot(path: string): string {
  const segments: string[] = []
  for (const each of path.split('/'))
    if (each === '..') segments.pop()
    else if (each !== '' && each !== '.') segments.push(each)
  return segments.join('/')
}
