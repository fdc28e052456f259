/**
 * The variables of our environment that a started program gets: to be found, to reach the network and to know its user, and nothing else.
 * Tokens of ours and of our caller are not among them, unless the operator names them in BACKPORCH_CHILD_ENV.
 */
export type Environment = Readonly<Record<string, string | undefined>>

/** Separated by commas or spaces: names of variables that every child gets. */
const CHILD_VARIABLES = 'BACKPORCH_CHILD_ENV'

/** `git` with ssh; a credential `plugin` of a kubeconfig; a container `engine`; a `viewer` of the user's on his terminal; any `program`. */
type ChildKind = 'git' | 'plugin' | 'engine' | 'viewer' | 'program'

/** Folders, language, terminal, proxies and certificate authorities; on Windows what programs do not start without. */
const ALWAYS =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|XDG_\w+|SSL_CERT_(?:FILE|DIR)|(?:https?|all|no)_proxy|systemroot|windir|comspec|pathext|(?:local)?appdata|programdata|userprofile)$/i

const BESIDES: Readonly<Record<ChildKind, RegExp | undefined>> = {
  // Named one by one: GIT_TOKEN and GIT_PASSWORD are names that people give to tokens.
  git: /^(?:SSH_(?:AUTH_SOCK|AGENT_PID)|GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|CONFIG_\w+|SSL_\w+|HTTP_\w+|PROXY_\w+|TRACE\w*|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|EXEC_PATH|TEMPLATE_DIR|DEFAULT_\w+|ATTR_\w+|PAGER|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)))$/,
  // A plugin gets a token for the cluster out of a credential of the cloud; kubectl gives it everything.
  plugin: /^(?:AWS|AZURE|AAD|GOOGLE|CLOUDSDK|OCI)_\w+$|^KUBECONFIG$/,
  engine:
    /^(?:DOCKER|CONTAINERS?|PODMAN)_\w+$|^(?:REGISTRY_AUTH_FILE|DBUS_SESSION_BUS_ADDRESS|SSH_AUTH_SOCK)$/,
  viewer:
    /^(?:TERM\w*|COLOR\w*|NO_COLOR|LS_COLORS|LESS\w*|PAGER|EDITOR|VISUAL|DISPLAY|WAYLAND_DISPLAY|DELTA_\w+|BAT_\w+|DFT_\w+)$/,
  program: undefined,
}

export function childEnvironment(
  environment: Environment,
  kind: ChildKind,
): Record<string, string> {
  const named = new Set((environment[CHILD_VARIABLES] ?? '').split(/[\s,]+/))
  const retained = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (ALWAYS.test(entry[0]) || BESIDES[kind]?.test(entry[0]) === true || named.has(entry[0])),
  )
  return Object.fromEntries(retained)
}
