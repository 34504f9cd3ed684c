"""browser.py - a headless Chromium, spoken to through a pipe

No port, no network: --remote-debugging-pipe reads commands from descriptor 3
and writes answers to 4, JSON texts with a zero byte after each. Every wait has
an end, and the browser is ended with all its processes by their group.
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

OPTIONS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
           '--disable-dev-shm-usage', '--disable-background-networking',
           '--disable-component-update', '--disable-sync', '--disable-quic',
           '--remote-debugging-pipe', '--hide-scrollbars']


class Browser:
    def __init__(self, program, seconds=60):
        self.seconds = seconds
        self.folder = tempfile.mkdtemp(prefix='browser.')
        theirs_in, self.to = os.pipe()
        self.come, theirs_out = os.pipe()

        def descriptors():
            # neither pipe may be in the other's way
            a, b = os.dup2(theirs_in, 30), os.dup2(theirs_out, 31)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.child = subprocess.Popen(
            [program, *OPTIONS, '--user-data-dir=' + self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=descriptors, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.events = b'', 0, []
        self.session = None
        try:
            target = self.call('Target.createTarget', url='about:blank')
            self.session = self.call('Target.attachToTarget', flatten=True,
                                     targetId=target['targetId'])['sessionId']
            for domain in ('Page', 'Runtime', 'Log', 'Network'):
                self.call(domain + '.enable')
        except BaseException:
            self.close()
            raise

    def close(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        os.close(self.to)
        os.close(self.come)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, end):
        while b'\0' not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.come], [], [], left)[0]:
                raise TimeoutError('the browser does not answer')
            got = os.read(self.come, 1 << 20)
            if not got:
                raise EOFError('the browser has ended')
            self.rest += got
        one, self.rest = self.rest.split(b'\0', 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        ask = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            ask['sessionId'] = self.session
        text = json.dumps(ask).encode() + b'\0'
        while text:
            text = text[os.write(self.to, text):]
        end = time.monotonic() + self.seconds
        while True:
            m = self.message(end)
            if m.get('id') != self.number:
                self.events.append(m)
                continue
            if 'error' in m:
                raise RuntimeError('%s: %s' % (method, m['error']))
            return m['result']

    def wait(self, event):
        end = time.monotonic() + self.seconds
        while not any(m.get('method') == event for m in self.events):
            self.events.append(self.message(end))

    def window(self, width, height, dark=False, touch=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=1, mobile=touch)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme',
             'value': 'dark' if dark else 'light'}])
        self.call('Emulation.setTouchEmulationEnabled', enabled=touch)

    def open(self, url):
        self.events = []
        self.call('Page.navigate', url='about:blank')
        self.wait('Page.loadEventFired')
        self.events = []
        self.call('Page.navigate', url=url)
        self.wait('Page.loadEventFired')

    def run(self, script):
        """The value of a script, which may be a promise."""
        r = self.call('Runtime.evaluate', expression=script,
                      returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in r:
            raise RuntimeError(json.dumps(r['exceptionDetails'])[:2000])
        return r['result'].get('value')

    def key(self, key, text=None, modifiers=0):
        codes = {'Tab': 9, 'Enter': 13, 'Escape': 27, ' ': 32, 'ArrowLeft': 37,
                 'ArrowUp': 38, 'ArrowRight': 39, 'ArrowDown': 40}
        if text is None:
            text = {'Enter': '\r', ' ': ' '}.get(
                key, key if len(key) == 1 else '')
        event = {'key': key, 'modifiers': modifiers,
                 'windowsVirtualKeyCode': codes.get(key, ord(key[0].upper()))}
        down = 'keyDown' if text and not modifiers else 'rawKeyDown'
        if down == 'keyDown':
            event['text'] = text
        self.call('Input.dispatchKeyEvent', type=down, **event)
        event.pop('text', None)
        self.call('Input.dispatchKeyEvent', type='keyUp', **event)

    def write(self, text):
        for c in text:
            self.key(c)

    def tap(self, x, y):
        self.call('Input.dispatchTouchEvent', type='touchStart',
                  touchPoints=[{'x': x, 'y': y}])
        self.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y,
                      button='left', clickCount=1)

    def picture(self, file, whole=False):
        r = self.call('Page.captureScreenshot', captureBeyondViewport=whole)
        with open(file, 'wb') as f:
            f.write(base64.b64decode(r['data']))

    def complaints(self):
        """Errors of scripts, of the policy; and what was asked of a network."""
        said = []
        for m in self.events:
            p = m.get('params', {})
            if m.get('method') == 'Runtime.exceptionThrown':
                said.append(json.dumps(p['exceptionDetails'])[:500])
            if m.get('method') == 'Log.entryAdded' and \
                    p['entry']['level'] == 'error':
                said.append(p['entry']['text'])
            if m.get('method') == 'Network.requestWillBeSent' and \
                    not p['request']['url'].startswith(('file:', 'about:')):
                said.append('asks for ' + p['request']['url'])
        return said
