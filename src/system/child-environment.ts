/**
 * A started program gets only what it needs to be found, to reach the network and to know its user.
 * Tokens of Backporch and its caller are excluded, unless the operator names them in
 * BACKPORCH_CHILD_ENV.
 */
export type Environment = Readonly<Record<string, string | undefined>>

/** Separated by commas or spaces. */
const CHILD_VARIABLES = 'BACKPORCH_CHILD_ENV'

/** `git` with ssh; a kubeconfig's credential `plugin`; the user's `viewer` on the terminal. */
type ChildKind = 'git' | 'plugin' | 'engine' | 'viewer' | 'program'

const ALWAYS =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|XDG_\w+|SSL_CERT_(?:FILE|DIR)|(?:https?|all|no)_proxy|systemroot|windir|comspec|pathext|(?:local)?appdata|programdata|userprofile)$/i

const BESIDES: Readonly<Record<ChildKind, RegExp | undefined>> = {
  // Listed individually, because people use GIT_TOKEN and GIT_PASSWORD for tokens.
  git: /^(?:SSH_(?:AUTH_SOCK|AGENT_PID)|GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|CONFIG_\w+|SSL_\w+|HTTP_\w+|PROXY_\w+|TRACE\w*|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|EXEC_PATH|TEMPLATE_DIR|DEFAULT_\w+|ATTR_\w+|PAGER|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)))$/,
  // A plugin gets a cluster token from a cloud credential; kubectl gives it everything.
  plugin: /^(?:AWS|AZURE|AAD|GOOGLE|CLOUDSDK|OCI)_\w+$|^KUBECONFIG$/,
  engine:
    /^(?:DOCKER|CONTAINERS?|PODMAN)_\w+$|^(?:REGISTRY_AUTH_FILE|DBUS_SESSION_BUS_ADDRESS|SSH_AUTH_SOCK)$/,
  viewer:
    /^(?:TERM\w*|COLOR\w*|NO_COLOR|LS_COLORS|LESS\w*|PAGER|EDITOR|VISUAL|DISPLAY|WAYLAND_DISPLAY|DELTA_\w+|BAT_\w+|DFT_\w+)$/,
  program: undefined,
}

export function buildChildEnvironment(
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
