/**
 * Files of a service that works as it is, by their paths below its folder: a unit that hands out a page on a port, with
 * a check of it. To be changed by its author.
 */
export function newService(name: string, hostGroup: string): Map<string, string> {
  const variable = name.replaceAll(/[^A-Za-z0-9]/g, '_').replace(/^(?=\d)/, '_');
  const page = `{{ muster_root }}/srv/${name}`;
  const unit = `{{ muster_units }}/${name}.service`;
  return new Map([
    [
      'service.yml',
      `# docs/services.md says what may stand here.
# Another version is another configuration: nodes are set up again. For changes that no template and no variable shows.
version: 1
# Host group: mode in it. The mode is muster_mode in tasks and templates; in a group with the mode absent it must not be.
groups:
  ${hostGroup}: server
# Services that are set up before it.
after: []
# alone: it may be cleaned up and set up again while the node's other services go on. all: only with them.
resetup: alone
`,
    ],
    [
      'defaults.yml',
      `# Lowest in precedence: variables of nodes, globals and --extra-vars go first. Each counts in the checksum.
${variable}_port: 8080
${variable}_text: it works
`,
    ],
    [
      'tasks/site.yml',
      `- name: The page of ${name}
  ansible.builtin.file:
    path: '${page}'
    state: directory
    mode: '0755'
- name: What the page says
  ansible.builtin.template:
    src: index.html.j2
    dest: '${page}/index.html'
    mode: '0644'
- name: The unit of ${name}
  muster_service:
    unit: ${name}.service
    files:
      - path: '${unit}'
        content: "{{ lookup('ansible.builtin.template', '${name}.service.j2') | b64encode }}"
    # A node that has rebooted serves nothing before its check, unless muster_enable_services says so.
    enabled: '{{ muster_enable_services | bool }}'
`,
    ],
    [
      'tasks/check.yml',
      `# Reads only. muster_check tells ok, drift or broken; a task that fails here makes the service unknown.
- name: Look at ${name}
  muster_check:
    unit: ${name}.service
    files:
      - path: '${unit}'
        content: "{{ lookup('ansible.builtin.template', '${name}.service.j2') | b64encode }}"
      - path: '${page}/index.html'
        content: "{{ lookup('ansible.builtin.template', 'index.html.j2') | b64encode }}"
`,
    ],
    [
      'tasks/cleanup.yml',
      `# Runs on every node, also where ${name} never was: everything that site.yml makes is taken away, if it is there.
- name: Take ${name} away
  muster_service:
    unit: ${name}.service
    state: absent
    remove:
      - '${unit}'
      - '${page}'
`,
    ],
    ['templates/index.html.j2', `{{ ${variable}_text }} on {{ inventory_hostname }}, in mode {{ muster_mode }}\n`],
    [
      `templates/${name}.service.j2`,
      `[Unit]
Description=${name}
After=network-online.target

[Service]
ExecStart=/usr/bin/python3 -m http.server {{ ${variable}_port }} --directory ${page}
Restart=on-failure

[Install]
WantedBy=multi-user.target
`,
    ],
  ]);
}
